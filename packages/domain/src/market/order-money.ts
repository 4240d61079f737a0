import type { Market } from "./market.js";
import type { Side } from "./order.js";
import { baseUnitsOfLots, quoteUnitsOf } from "./ticks-and-lots.js";

/** The hold of a limit order with so many lots open: the most that a buyer pays, or what a seller sells. */
export function limitHold(side: Side, price: number, lots: number, market: Market): bigint {
  return side === "buy" ? quoteUnitsOf(price, lots, market) : baseUnitsOfLots(lots, market);
}

/** What a trade pays to each side, and the fees on that. Amounts are base units of the asset received. */
export interface TradeMoney {
  /** What the seller gives and the buyer pays. */
  base: bigint;
  quote: bigint;
  buyerFee: bigint;
  sellerFee: bigint;
}

/** The buyer's fee is taken from the base that it receives and the seller's from the quote, so a hold never has to cover a fee. */
export function tradeMoney(
  trade: { price: number; size: number },
  feesBasisPoints: { buyer: number; seller: number },
  market: Market,
): TradeMoney {
  const base = baseUnitsOfLots(trade.size, market);
  const quote = quoteUnitsOf(trade.price, trade.size, market);
  return {
    base,
    quote,
    buyerFee: feeOf(base, feesBasisPoints.buyer),
    sellerFee: feeOf(quote, feesBasisPoints.seller),
  };
}

/** Rounded up to a whole base unit, in the market's favour; never more than the amount, for up to 10,000 basis points. */
export function feeOf(amount: bigint, basisPoints: number): bigint {
  return (amount * BigInt(basisPoints) + 9999n) / 10_000n;
}
