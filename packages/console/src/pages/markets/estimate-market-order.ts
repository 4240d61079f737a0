import { compare, fromUnits, type LiveBook, type Market, toUnits } from "@bursar/client";

/** What a market order comes to at the prices that the book has now. */
export interface MarketEstimate {
  /** How much of its size the book has, within the price band. */
  size: string;
  isWhole: boolean;
  /** In the quote asset, before the fee. */
  total: string;
  average: string;
  worst: string;
}

const decimalsMax = 18;
const scale = 10n ** BigInt(decimalsMax);

/** Undefined if the book is not known or has nothing, or if the size is no number. Other orders can be faster. */
export function estimateMarketOrder(
  { side, size = "" }: { side: "buy" | "sell"; size?: string },
  book: Pick<LiveBook, "bids" | "asks"> | undefined,
  market: Pick<Market, "price_min" | "price_max" | "tick_size">,
): MarketEstimate | undefined {
  const levels = (side === "buy" ? book?.asks : book?.bids) ?? [];
  let open: bigint;
  try {
    open = toUnits(size, decimalsMax);
  } catch {
    return undefined;
  }
  let [taken, total] = [0n, 0n];
  let worst: string | undefined;
  for (const [price, offered] of levels) {
    if (open <= 0n || isBeyondBand(side, price, market)) break;
    const units = toUnits(offered, decimalsMax);
    const part = units < open ? units : open;
    total += (toUnits(price, decimalsMax) * part) / scale;
    open -= part;
    taken += part;
    worst = price;
  }
  if (worst === undefined || taken === 0n) return undefined;
  return {
    size: fromUnits(taken, decimalsMax),
    isWhole: open === 0n,
    total: fromUnits(total, decimalsMax),
    average: averageOf(total, taken, market.tick_size),
    worst,
  };
}

/** Rounded to the nearest step of the price. */
function averageOf(total: bigint, size: bigint, tick: string): string {
  const decimals = tick.split(".")[1]?.length ?? 0;
  const scaled = total * 10n ** BigInt(decimals);
  return fromUnits((scaled + size / 2n) / size, decimals);
}

/** A market order trades no further than to the end of the band. */
function isBeyondBand(
  side: "buy" | "sell",
  price: string,
  { price_min: min, price_max: max }: Pick<Market, "price_min" | "price_max">,
): boolean {
  return side === "buy" ? max !== null && compare(price, max) > 0 : min !== null && compare(price, min) < 0;
}
