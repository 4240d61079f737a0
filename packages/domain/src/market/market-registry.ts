import type { Asset, AssetRegistry } from "../money/asset.js";
import { createMarket, type Market, type MarketFault } from "./market.js";
import { parsePrice } from "./ticks-and-lots.js";

/** A market as it is configured. */
export interface MarketDefinition {
  base: string;
  quote: string;
  tickSize: string;
  lotSize: string;
  sizeMin: string;
  makerFeeBasisPoints: number;
  takerFeeBasisPoints: number;
  /** The centre of the price band until enough tenants have traded. */
  referencePrice: string;
  priceBandBasisPoints: number;
  /** How far beyond the best price a market order trades. */
  slippageBasisPoints: number;
}

/** A valid market: its assets exist and its steps are whole. */
export interface TradedMarket {
  name: string;
  base: Asset;
  quote: Asset;
  steps: Market;
  /** In ticks. */
  referencePrice: number;
  definition: MarketDefinition;
}

/** The markets of a service; the first is the default. */
export interface MarketRegistry {
  list: readonly TradedMarket[];
  find: (name: string) => TradedMarket | undefined;
  /** The market of a stored row. It exists, or the service would not have started. */
  get: (name: string) => TradedMarket;
}

/** Which field makes a definition invalid, and what is allowed. */
export interface DefinitionFault {
  index: number;
  field: "base" | "quote" | "tick_size" | "lot_size" | "size_min" | "reference_price";
  allowed: string;
}

export function createMarketRegistry(
  definitions: readonly MarketDefinition[],
  assets: AssetRegistry,
): MarketRegistry | DefinitionFault {
  const list: TradedMarket[] = [];
  for (const [index, definition] of definitions.entries()) {
    const made = createTradedMarket(definition, assets);
    if ("allowed" in made) return { index, ...made };
    list.push(made);
  }
  const byName = new Map(list.map((market) => [market.name, market]));
  return {
    list,
    find: (name) => byName.get(name),
    get: (name) => {
      const market = byName.get(name);
      if (market === undefined) throw new Error(`unknown market ${name}`);
      return market;
    },
  };
}

function createTradedMarket(
  definition: MarketDefinition,
  assets: AssetRegistry,
): TradedMarket | Omit<DefinitionFault, "index"> {
  const base = assets.find(definition.base);
  if (base === undefined) return { field: "base", allowed: "the code of a configured asset" };
  const quote = assets.find(definition.quote);
  if (quote === undefined) return { field: "quote", allowed: "the code of a configured asset" };
  // A trade is settled in the ledger, between wallets of one network.
  if (base.network !== quote.network)
    return {
      field: "quote",
      allowed: `an asset of the network ${base.network}, like ${base.code}; ${quote.code} is one of ${quote.network}`,
    };
  const { tickSize, lotSize, sizeMin } = definition;
  const steps = createMarket({
    baseDecimals: base.decimals,
    quoteDecimals: quote.decimals,
    tickSize,
    lotSize,
    sizeMin,
  });
  if ("refused" in steps) return explain(steps.refused, base, quote);
  const referencePrice = parsePrice(definition.referencePrice, steps);
  if (typeof referencePrice === "string")
    return { field: "reference_price", allowed: `a multiple of the tick size, ${tickSize}` };
  return { name: `${definition.base}-${definition.quote}`, base, quote, steps, referencePrice, definition };
}

function explain(fault: MarketFault, base: Asset, quote: Asset): Omit<DefinitionFault, "index"> {
  switch (fault) {
    case "tick_size_malformed":
      return { field: "tick_size", allowed: "a decimal number greater than zero" };
    case "lot_size_malformed":
      return {
        field: "lot_size",
        allowed: `a decimal number with at most the ${base.decimals} decimals of ${base.code}`,
      };
    case "size_min_not_in_lots":
      return { field: "size_min", allowed: "a whole number of lots" };
    case "tick_lot_not_whole":
      return {
        field: "lot_size",
        allowed: `so large that a lot at a price of one tick costs a whole number of the smallest units of ${quote.code}`,
      };
  }
}
