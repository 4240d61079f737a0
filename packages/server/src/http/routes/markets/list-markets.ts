import { MarketList } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { defineRoute } from "../../route.js";

export function listMarkets({ listMarkets: list }: Pick<UseCases, "listMarkets">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/markets",
      access: "orderbook:read",
      operationId: "listMarkets",
      tag: "Markets",
      summary: "List the markets",
      description: "With their states, increments, fees and the prices that a new order may have now.",
      success: { status: 200, schema: MarketList, description: "All markets." },
      errors: [],
    },
    async () => ({
      data: (await list()).map(
        ({ market: { name, base, quote, definition }, state, priceMin, priceMax }) => ({
          market: name,
          base: base.code,
          quote: quote.code,
          state,
          tick_size: definition.tickSize,
          lot_size: definition.lotSize,
          size_min: definition.sizeMin,
          maker_fee_basis_points: definition.makerFeeBasisPoints,
          taker_fee_basis_points: definition.takerFeeBasisPoints,
          reference_price: definition.referencePrice,
          price_band_basis_points: definition.priceBandBasisPoints,
          slippage_basis_points: definition.slippageBasisPoints,
          price_min: priceMin,
          price_max: priceMax,
        }),
      ),
    }),
  );
}
