import { expect, it } from "vitest";
import { createSeededRandom } from "../../markets/quotes.js";
import { changesOfBest, edgesOf } from "./best-levels.js";
import { applyLevelChanges, type Levels } from "./depth-view.js";
import type { LevelChangeRow } from "./market-store.js";

const depth = 7;
const emptyLevels = (): Levels => ({ sequence: 0, changedAt: new Date(0), bids: [], asks: [] });
const best = ({ bids, asks }: Levels) =>
  [bids, asks].map((side) => side.slice(0, depth).map((one) => ({ ...one })));

it("a client that applies the changes has the best levels and no others, at every step of a book that grows and shrinks", () => {
  const random = createSeededRandom(11);
  const whole = (max: number) => Math.floor(random() * max);
  const levels = emptyLevels();
  const copy = emptyLevels();
  for (let step = 0; step < 20_000; step++) {
    // Many at once too, so that a side is emptied or filled beyond the depth in one step; and on both sides of it.
    const isShrinking = Math.floor(step / 200) % 2 === 1;
    const changed = new Map<number, LevelChangeRow>();
    for (let left = 1 + whole(step % 17 === 0 ? 40 : 3); left > 0; left--) {
      const side = whole(2) === 0 ? "buy" : "sell";
      const price = side === "buy" ? 100 - whole(30) : 101 + whole(30);
      changed.set(price, [side, price, whole(isShrinking ? 2 : 5), 1]);
    }
    const changes = [...changed.values()];
    const before = edgesOf(levels, depth);
    applyLevelChanges(levels, changes);
    const shown = changesOfBest(levels, changes, before, depth);
    applyLevelChanges(
      copy,
      shown.map(([side, price, size]) => [side, price, size, 1]),
    );
    expect([copy.bids, copy.asks]).toEqual(best(levels));
  }
});

it("says nothing of what happens below the best levels", () => {
  const levels = emptyLevels();
  applyLevelChanges(
    levels,
    Array.from({ length: 20 }, (_, index) => ["buy", 100 - index, 1, 1] as const),
  );
  const before = edgesOf(levels, depth);
  const below: LevelChangeRow[] = [
    ["buy", 90, 5, 1],
    ["buy", 89, 0, 0],
  ];
  applyLevelChanges(levels, below);
  expect(changesOfBest(levels, below, before, depth)).toEqual([]);
});
