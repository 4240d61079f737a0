import { compare, fromUnits, type LiveBook, type Market, toUnits } from "@bursar/client";
import { multiplyExactly } from "./multiply-exactly";

type Fees = Pick<Market, "maker_fee_basis_points" | "taker_fee_basis_points">;

/** `20` basis points are `0.2` per cent. */
export function percentOf(basisPoints: number): string {
  return fromUnits(BigInt(basisPoints), 2);
}

/** What is taken from what is received in each trade, and what is left. The fee of a trade is rounded up to the last decimal of the asset. */
export function feeOf(
  received: readonly string[],
  basisPoints: number,
  decimals: number,
): { fee: string; left: string } | undefined {
  try {
    let [fee, left] = [0n, 0n];
    for (const amount of received) {
      const units = toUnits(amount, decimals);
      const taken = (units * BigInt(basisPoints) + 9999n) / 10_000n;
      fee += taken;
      left += units - taken;
    }
    return { fee: fromUnits(fee, decimals), left: fromUnits(left, decimals) };
  } catch {
    // What was typed is no amount of this asset. The service says so.
    return undefined;
  }
}

/** The rates that can apply: orders that trade at once pay that of takers, and those that rest in the book first that of makers. */
export function ratesOf(
  { maker_fee_basis_points: maker, taker_fee_basis_points: taker }: Fees,
  timeInForce: "gtc" | "ioc" | "fok" | "post_only" | undefined,
): { taker?: number; maker?: number } {
  if (timeInForce === "post_only") return { maker };
  // A market order has no time in force, and never rests.
  return timeInForce === "gtc" ? { taker, maker } : { taker };
}

/** What an order comes to at its price, in the quote asset; undefined if it has none, or one that is no number. */
export function totalOf(price: string | undefined, size: string | undefined): string | undefined {
  return price === undefined || size === undefined ? undefined : multiplyExactly(price, size);
}

/** The best price of the other side, if a limit order would trade with it at once. */
export function crossedPrice(
  { side, price }: { side: "buy" | "sell"; price?: string },
  book: Pick<LiveBook, "bids" | "asks"> | undefined,
): string | undefined {
  const best = (side === "buy" ? book?.asks : book?.bids)?.[0]?.[0];
  if (best === undefined || price === undefined) return undefined;
  try {
    const order = compare(price, best);
    return (side === "buy" ? order >= 0 : order <= 0) ? best : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the market would refuse the price now, because it is outside of its band. Not if the band, or the price, is not known. */
export function isOutsideBand(
  price: string | undefined,
  { price_min: min, price_max: max }: Pick<Market, "price_min" | "price_max">,
): boolean {
  if (price === undefined || min === null || max === null) return false;
  try {
    return compare(price, min) < 0 || compare(price, max) > 0;
  } catch {
    return false;
  }
}
