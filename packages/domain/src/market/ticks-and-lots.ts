import { formatAmount, parseAmount } from "../money/amount.js";
import { type Market, priceDecimalsMax } from "./market.js";

/**
 * Converts between the decimal strings and base units outside the book and the whole ticks and lots, as safe integers, inside. On the
 * way in only a spending limit is rounded, down; on the way out everything is exact.
 */
export type PriceFault = "malformed" | "not_positive" | "not_in_ticks" | "too_large";
export type SizeFault = "malformed" | "not_positive" | "not_in_lots" | "too_large" | "below_minimum";

export function parsePrice(text: string, market: Market): number | PriceFault {
  const units = parseAmount(text, priceDecimalsMax);
  if (units === "too_precise") return "not_in_ticks";
  if (typeof units === "string") return units;
  if (units % market.tickUnits !== 0n) return "not_in_ticks";
  return toSafeInteger(units / market.tickUnits);
}

export function parseSize(text: string, market: Market): number | SizeFault {
  const units = parseAmount(text, market.baseDecimals);
  if (units === "too_precise") return "not_in_lots";
  if (typeof units === "string") return units;
  const lots = lotsFromBaseUnits(units, market);
  return typeof lots === "number" && lots < market.lotsMin ? "below_minimum" : lots;
}

/** The lots in an amount of the base asset. */
export function lotsFromBaseUnits(units: bigint, market: Market): number | SizeFault {
  if (units <= 0n) return "not_positive";
  if (units % market.lotUnits !== 0n) return "not_in_lots";
  return toSafeInteger(units / market.lotUnits);
}

/** Prices keep the decimals of the tick size, so that a column of them lines up: "3120.50". */
export function formatPrice(ticks: number, { tickUnits, priceDecimals }: Market): string {
  const canonical = formatAmount(BigInt(ticks) * tickUnits, priceDecimalsMax);
  return padDecimals(canonical, priceDecimals);
}

/** Sizes keep the decimals of the lot size. */
export function formatSize(lots: number, market: Market): string {
  return padDecimals(formatAmount(baseUnitsOfLots(lots, market), market.baseDecimals), market.sizeDecimals);
}

/** The amount of so many lots, in base units of the base asset. */
export function baseUnitsOfLots(lots: number, { lotUnits }: Market): bigint {
  return BigInt(lots) * lotUnits;
}

/** What a trade costs, in base units of the quote asset, exactly. */
export function quoteUnitsOf(ticks: number, lots: number, { tickLotUnits }: Market): bigint {
  return BigInt(ticks) * BigInt(lots) * tickLotUnits;
}

/** The tick-lots that an amount of the quote asset pays for; rounded down, so that no more is ever spent. */
export function tickLotsFromQuoteUnits(units: bigint, { tickLotUnits }: Market): bigint {
  return units / tickLotUnits;
}

function toSafeInteger(value: bigint): number | "too_large" {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : "too_large";
}

function padDecimals(canonical: string, decimals: number): string {
  const [whole = "0", fraction = ""] = canonical.split(".");
  return decimals === 0 ? whole : `${whole}.${fraction.padEnd(decimals, "0")}`;
}
