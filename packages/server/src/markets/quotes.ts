import type { Side } from "@bursar/domain";

/** An order that a market maker wants to have in the book. */
export interface Quote {
  side: Side;
  /** In ticks. */
  price: number;
  lots: number;
}

const quotesOfSide = 12;
/** How far the mid-price moves from where it began, as a fraction of it. */
const driftMax = 0.02;

/** The next mid-price: the last one or a tick beside it, and never far from where it began. */
export function moveMidPrice(midPrice: number, start: number, random: () => number): number {
  const moved = midPrice + Math.floor(random() * 3) - 1;
  const distanceMax = Math.max(Math.floor(start * driftMax), 1);
  return Math.min(Math.max(moved, start - distanceMax, quotesOfSide + 2), start + distanceMax);
}

/** Quotes on both sides of a mid-price, a tick apart, larger with their distance from it. */
export function planQuotes(midPrice: number, lotsMin: number, random: () => number): Quote[] {
  const quotes: Quote[] = [];
  for (const side of ["buy", "sell"] as const) {
    const direction = side === "buy" ? -1 : 1;
    for (let index = 1; index <= quotesOfSide; index++) {
      const lots = lotsMin * (10 * index + Math.floor(random() * 40));
      quotes.push({ side, price: midPrice + direction * index, lots });
    }
  }
  return quotes;
}

/** A pseudo-random generator of numbers in [0, 1), the same for the same seed (mulberry32). */
export function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
