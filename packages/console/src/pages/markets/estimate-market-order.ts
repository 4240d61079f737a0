import { compare, fromUnits, type LiveBook, type Market, toUnits } from "@bursar/client";
import { isSameAmount } from "../../unanswered/same-amount";
import { fillPrice } from "../orders/fill-price";
import { multiplyExactly } from "./multiply-exactly";

/** What a market order comes to at the prices that the book has now. */
export interface MarketEstimate {
  /** How much it trades, within the price band and what it may spend. */
  size: string;
  /** Why it trades no more: it has its size, or it has spent what it may, or it meets an order of the tenant, or the book has no more. */
  end: "filled" | "spent" | "own" | "book";
  /** In the quote asset, before the fee. */
  total: string;
  /** Null if it trades nothing. */
  average: { price: string; isExact: boolean } | null;
  /** The last price that it reaches. */
  worst: string;
  /** What it trades at each price, in at least one trade each. */
  parts: { size: string; total: string }[];
}

const decimalsMax = 18;
const scale = 10n ** BigInt(decimalsMax);

interface MarketOrder {
  side: "buy" | "sell";
  size?: string;
  /** The most that it may spend. */
  quote_size?: string;
}

/**
 * Undefined if the book is not known or has nothing, or if a number of the order is none. Other orders can be faster. At `ownPrice`, where
 * the best order of the tenant itself waits, the estimate ends: older orders at that price would trade first, and the book does not say
 * how many those are. Nor does it say how many orders a level has, of which a market order meets a bounded number.
 */
export function estimateMarketOrder(
  { side, size, quote_size }: MarketOrder,
  book: Pick<LiveBook, "bids" | "asks"> | undefined,
  market: Pick<Market, "price_min" | "price_max" | "lot_size">,
  ownPrice?: string,
): MarketEstimate | undefined {
  const [open, budget] = [unitsOf(size), unitsOf(quote_size)];
  if (open === "none" || budget === "none" || (open ?? budget) === undefined) return undefined;
  const lot = toUnits(market.lot_size, decimalsMax);
  const parts: { size: bigint; total: bigint }[] = [];
  let [taken, total] = [0n, 0n];
  let worst: string | undefined;
  let end: MarketEstimate["end"] = "book";
  for (const [price, offered] of (side === "buy" ? book?.asks : book?.bids) ?? []) {
    if (isBeyondBand(side, price, market)) break;
    if (ownPrice !== undefined && isAtOrBehind(side, price, ownPrice)) {
      worst ??= price;
      end = "own";
      break;
    }
    const [units, priceUnits] = [toUnits(offered, decimalsMax), toUnits(price, decimalsMax)];
    const wanted = smaller(units, open === undefined ? units : open - taken);
    const payable = budget === undefined ? wanted : (((budget - total) * scale) / priceUnits / lot) * lot;
    const part = smaller(wanted, payable);
    if (part > 0n || worst === undefined) worst = price;
    if (part > 0n) parts.push({ size: part, total: (priceUnits * part) / scale });
    taken += part;
    total += (priceUnits * part) / scale;
    if (taken === open) end = "filled";
    else if (part < wanted) end = "spent";
    if (end !== "book") break;
  }
  if (worst === undefined) return undefined;
  const traded = { size: fromUnits(taken, decimalsMax), total: fromUnits(total, decimalsMax) };
  return {
    ...traded,
    end,
    average: averageOf(traded),
    worst,
    parts: parts.map((part) => ({
      size: fromUnits(part.size, decimalsMax),
      total: fromUnits(part.total, decimalsMax),
    })),
  };
}

/** Whether an order that comes would meet the one at `ownPrice` no later than this price. */
function isAtOrBehind(side: "buy" | "sell", price: string, ownPrice: string): boolean {
  const order = compare(price, ownPrice);
  return side === "buy" ? order >= 0 : order <= 0;
}

function smaller(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

/** A number of the order; undefined if it has none, `none` if what was typed is no positive number. */
function unitsOf(typed: string | undefined): bigint | undefined | "none" {
  if (typed === undefined) return undefined;
  try {
    const units = toUnits(typed, decimalsMax);
    return units > 0n ? units : "none";
  } catch {
    return "none";
  }
}

/** With as many digits as the page of the order shows of it afterwards. */
function averageOf({ size, total }: { size: string; total: string }): MarketEstimate["average"] {
  const price = fillPrice({ filled: size, quote_filled: total });
  return price === null ? null : { price, isExact: isSameAmount(multiplyExactly(price, size), total) };
}

/** A market order trades no further than to the end of the band. */
function isBeyondBand(
  side: "buy" | "sell",
  price: string,
  { price_min: min, price_max: max }: Pick<Market, "price_min" | "price_max">,
): boolean {
  return side === "buy" ? max !== null && compare(price, max) > 0 : min !== null && compare(price, min) < 0;
}
