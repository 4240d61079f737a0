import type { Side } from "@bursar/domain";

/** An order that a market maker wants to have in the book. */
export interface LadderStep {
  side: Side;
  /** In ticks. */
  price: number;
  lots: number;
}

const stepsOfSide = 12;
/** How far the price strays from where it began, as a part of it. */
const strayMax = 0.02;

/** The next middle: the last one, or a tick beside it, and never far from where it began. */
export function moveMiddle(middle: number, start: number, random: () => number): number {
  const moved = middle + Math.floor(random() * 3) - 1;
  const reach = Math.max(Math.floor(start * strayMax), 1);
  return Math.min(Math.max(moved, start - reach, stepsOfSide + 2), start + reach);
}

/** Orders on both sides of a middle, a tick apart, the larger the farther away. */
export function planLadder(middle: number, lotsMin: number, random: () => number): LadderStep[] {
  const steps: LadderStep[] = [];
  for (const side of ["buy", "sell"] as const) {
    const away = side === "buy" ? -1 : 1;
    for (let index = 1; index <= stepsOfSide; index++) {
      const lots = lotsMin * (10 * index + Math.floor(random() * 40));
      steps.push({ side, price: middle + away * index, lots });
    }
  }
  return steps;
}

/** Numbers from 0 up to 1 that look random and are the same for the same seed (mulberry32). */
export function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
