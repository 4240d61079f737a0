import type { Side } from "@bursar/domain";
import type { Levels, ViewLevel } from "./depth-view.js";
import type { LevelChangeRow } from "./market-store.js";

/**
 * A subscriber of a book follows its best levels, a number of each side. A level that moves up into them is sent as if it were new, and
 * one that is pushed out as if it were removed; so a client that applies the changes always has the best levels and no others.
 */

/** What a level is now, for subscribers: side, price and size. A size of 0 removes it: it is gone, or no longer among the best. */
export type ShownChange = readonly [side: Side, price: number, size: number];

/** The prices at which the best levels end; undefined for a side that has fewer. */
export type Edges = Readonly<Record<Side, number | undefined>>;

export function edgesOf({ bids, asks }: Levels, depth: number): Edges {
  return { buy: bids[depth - 1]?.price, sell: asks[depth - 1]?.price };
}

/** How the best levels have changed, if these changes have led to `levels` and the best levels ended at `before` until then. */
export function changesOfBest(
  levels: Levels,
  changes: readonly LevelChangeRow[],
  before: Edges,
  depth: number,
): ShownChange[] {
  const after = edgesOf(levels, depth);
  return (["buy", "sell"] as const).flatMap((side) => {
    const list = side === "buy" ? levels.bids : levels.asks;
    const wasAmong = isAmong(side, before[side]);
    const sizes = new Map<number, number>();
    for (const [its, price, size] of changes) {
      if (its !== side) continue;
      const now = isAmong(side, after[side])(price) ? size : 0;
      if (now > 0 || wasAmong(price)) sizes.set(price, now);
    }
    for (const { price } of pushedOut(list, wasAmong, depth)) sizes.set(price, 0);
    for (const { price, size } of comeUp(list, wasAmong, depth)) sizes.set(price, size);
    return [...sizes].map(([price, size]): ShownChange => [side, price, size]);
  });
}

function isAmong(side: Side, edge: number | undefined): (price: number) => boolean {
  if (edge === undefined) return () => true;
  return side === "buy" ? (price) => price >= edge : (price) => price <= edge;
}

/** Levels right behind the best that were among them. */
function* pushedOut(list: readonly ViewLevel[], wasAmong: (price: number) => boolean, depth: number) {
  for (let index = depth; index < list.length; index++) {
    const level = list[index] as ViewLevel;
    if (!wasAmong(level.price)) return;
    yield level;
  }
}

/** The last of the best that were not among them. */
function* comeUp(list: readonly ViewLevel[], wasAmong: (price: number) => boolean, depth: number) {
  for (let index = Math.min(depth, list.length) - 1; index >= 0; index--) {
    const level = list[index] as ViewLevel;
    if (wasAmong(level.price)) return;
    yield level;
  }
}
