import {
  type AssetRegistry,
  createMarketRegistry,
  type MarketDefinition,
  type MarketRegistry,
} from "@bursar/domain";
import { list } from "./list-setting.js";
import { ConfigError, integer, matching } from "./setting.js";

/** The markets of the sandbox. A service in production has only those that its configuration lists. */
export const sandboxMarkets: readonly MarketDefinition[] = [
  {
    base: "ETH",
    quote: "USD",
    tickSize: "1",
    lotSize: "0.01",
    sizeMin: "0.01",
    makerFeeBasisPoints: 10,
    takerFeeBasisPoints: 20,
    referencePrice: "3000",
    priceBandBasisPoints: 1000,
    slippageBasisPoints: 500,
  },
  {
    base: "USDC",
    quote: "USD",
    tickSize: "0.0001",
    lotSize: "100",
    sizeMin: "100",
    makerFeeBasisPoints: 0,
    takerFeeBasisPoints: 1,
    referencePrice: "1",
    priceBandBasisPoints: 1000,
    slippageBasisPoints: 500,
  },
];

const code = /^[A-Za-z0-9][A-Za-z0-9._]{0,31}$/;
const decimal = /^(?=[0-9.]*[1-9])(0|[1-9][0-9]{0,17})(\.[0-9]{1,18})?$/;
const amount = "a decimal number greater than zero";

export const marketList = list({
  about:
    "The markets. A market is named after its two assets, as in ETH-USD, and its tick and lot size cannot change once it has orders. `GET /v1/orderbook` shows the first market if none is named. Without this list there are no markets, except in the sandbox, which has ETH-USD and USDC-USD.",
  default: [],
  example: sandboxMarkets,
  entriesMax: 50,
  fields: {
    base: matching({ about: "The asset that is traded." }, code, "the code of an asset"),
    quote: matching({ about: "The asset that it is paid with." }, code, "the code of an asset"),
    tick_size: matching({ about: "The price increment, in quote per base." }, decimal, amount),
    lot_size: matching(
      {
        about:
          "The size increment, in base. A lot at a price of one tick must cost a whole number of the quote asset's smallest units, so that every trade is paid exactly.",
      },
      decimal,
      amount,
    ),
    size_min: matching(
      { about: "The minimum size of an order, in base; a multiple of the lot size." },
      decimal,
      amount,
    ),
    maker_fee_basis_points: integer(
      {
        about: "The fee of the resting order, in hundredths of a percent of what it receives.",
        default: 0,
      },
      { min: 0, max: 1000 },
    ),
    taker_fee_basis_points: integer(
      {
        about: "The fee of the incoming order, likewise. Fees are rounded up to the smallest unit.",
        default: 0,
      },
      { min: 0, max: 1000 },
    ),
    reference_price: matching(
      {
        about:
          "The price, in quote per base, around which orders are allowed until enough tenants have traded. A change of it starts the price band again at the new price.",
      },
      decimal,
      amount,
    ),
    price_band_basis_points: integer(
      {
        about:
          "How far the price of a new order may be from the centre of the price band, in hundredths of a percent. Other prices are refused with `PRICE_OUT_OF_BAND`.",
        default: 1000,
      },
      { min: 1, max: 1_000_000 },
    ),
    slippage_basis_points: integer(
      {
        about:
          "How far beyond the best price a market order trades, in hundredths of a percent. The rest of it is cancelled with `SLIPPAGE_LIMIT`.",
        default: 500,
      },
      { min: 0, max: 1_000_000 },
    ),
  },
  make: (fields) =>
    fields.base === fields.quote
      ? { field: "quote", allowed: "a different asset than base" }
      : {
          base: fields.base,
          quote: fields.quote,
          tickSize: fields.tick_size,
          lotSize: fields.lot_size,
          sizeMin: fields.size_min,
          makerFeeBasisPoints: fields.maker_fee_basis_points,
          takerFeeBasisPoints: fields.taker_fee_basis_points,
          referencePrice: fields.reference_price,
          priceBandBasisPoints: fields.price_band_basis_points,
          slippageBasisPoints: fields.slippage_basis_points,
        },
  namesOf: ({ base, quote }) => ({ base: `${base}-${quote}` }),
  show: (market) => ({
    base: market.base,
    quote: market.quote,
    tick_size: market.tickSize,
    lot_size: market.lotSize,
    size_min: market.sizeMin,
    maker_fee_basis_points: market.makerFeeBasisPoints,
    taker_fee_basis_points: market.takerFeeBasisPoints,
    reference_price: market.referencePrice,
    price_band_basis_points: market.priceBandBasisPoints,
    slippage_basis_points: market.slippageBasisPoints,
  }),
});

/** The configured markets. A market of the sandbox is left out if its assets are not configured. */
export function readMarkets(definitions: readonly MarketDefinition[], assets: AssetRegistry): MarketRegistry {
  const isWanted = ({ base, quote }: MarketDefinition) =>
    definitions !== sandboxMarkets || [base, quote].every((code) => assets.find(code) !== undefined);
  const wanted = definitions.filter(isWanted);
  const made = createMarketRegistry(wanted, assets);
  if (!("allowed" in made)) {
    refuseChainAssets(made);
    return made;
  }
  const { index, field, allowed } = made;
  const { [field]: written } = marketList.show(wanted[index] as MarketDefinition);
  throw new ConfigError(
    `markets[${index}].${field} is ${JSON.stringify(String(written))}: it must be ${allowed}.`,
  );
}

/** A trade moves money in the ledger alone, which would then no longer agree with the chain. */
function refuseChainAssets({ list: markets }: MarketRegistry): void {
  markets.forEach(({ base: { code, network } }, index) => {
    if (network !== "book")
      throw new ConfigError(
        `markets[${index}].base is ${JSON.stringify(code)}: it must be an asset of the book; ${code} is one of ${network}.`,
      );
  });
}
