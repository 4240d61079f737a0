import { formatAmount, parseAmount } from "../money/amount.js";

/** The assets of a market and the steps of its prices and sizes. */
export interface MarketTerms {
  /** The decimals of the asset that is traded and of the one that it is paid with. */
  baseDecimals: number;
  quoteDecimals: number;
  /** The step of prices: quote per one base, as a decimal string such as "0.01". */
  tickSize: string;
  /** The step of sizes, in base. */
  lotSize: string;
  /** The least size of an order, in base. */
  sizeMin: string;
}

/** The steps of a market as whole numbers. */
export interface Market {
  /** A tick, in units of 10^-18 quote per base. */
  tickUnits: bigint;
  /** The decimals of the tick size and the lot size, which prices and sizes are written with. */
  priceDecimals: number;
  sizeDecimals: number;
  baseDecimals: number;
  /** A lot, in base units. */
  lotUnits: bigint;
  /** What one lot costs at a price of one tick, in base units of the quote asset. */
  tickLotUnits: bigint;
  lotsMin: number;
}

/**
 * Why terms are invalid. `tick_lot_not_whole`: a lot at a price of one tick would cost a fraction of the quote asset's base unit, so
 * trades would have to be rounded; here every trade is paid exactly.
 */
export type MarketFault =
  | "tick_size_malformed"
  | "lot_size_malformed"
  | "size_min_not_in_lots"
  | "tick_lot_not_whole";

/** The most decimals that a price has, independent of its quote asset. */
export const priceDecimalsMax = 18;

export function createMarket(terms: MarketTerms): Market | { refused: MarketFault } {
  const { baseDecimals, quoteDecimals } = terms;
  const tickUnits = parseAmount(terms.tickSize, priceDecimalsMax);
  if (typeof tickUnits === "string") return { refused: "tick_size_malformed" };
  const lotUnits = parseAmount(terms.lotSize, baseDecimals);
  if (typeof lotUnits === "string") return { refused: "lot_size_malformed" };
  const sizeMinUnits = parseAmount(terms.sizeMin, baseDecimals);
  if (typeof sizeMinUnits === "string" || sizeMinUnits % lotUnits !== 0n)
    return { refused: "size_min_not_in_lots" };
  const lotsMin = Number(sizeMinUnits / lotUnits);
  if (!Number.isSafeInteger(lotsMin)) return { refused: "size_min_not_in_lots" };
  const numerator = tickUnits * lotUnits * 10n ** BigInt(quoteDecimals);
  const denominator = 10n ** BigInt(priceDecimalsMax + baseDecimals);
  if (numerator % denominator !== 0n) return { refused: "tick_lot_not_whole" };
  return {
    tickUnits,
    priceDecimals: decimalsOf(formatAmount(tickUnits, priceDecimalsMax)),
    sizeDecimals: decimalsOf(formatAmount(lotUnits, baseDecimals)),
    baseDecimals,
    lotUnits,
    tickLotUnits: numerator / denominator,
    lotsMin,
  };
}

function decimalsOf(canonical: string): number {
  return canonical.split(".")[1]?.length ?? 0;
}
