import { array, assert, constantFrom, integer, property, tuple } from "fast-check";
import { expect, it } from "vitest";
import { applyLevelChanges, type Levels } from "./depth-view.js";
import type { LevelChangeRow } from "./market-store.js";

const changes = array(
  tuple(constantFrom("buy", "sell"), integer({ min: 1, max: 300 }), integer({ min: 0, max: 3 })),
  { maxLength: 200, size: "max" },
);

it("levels are what their last changes say, best first, whether few or many come at once", () =>
  assert(
    property(array(changes, { maxLength: 8 }), (batches) => {
      const levels: Levels = { sequence: 0, changedAt: new Date(0), bids: [], asks: [] };
      const expected = { buy: new Map<number, number>(), sell: new Map<number, number>() };
      for (const batch of batches) {
        // A level appears once in a batch.
        const rows = new Map(
          batch.map(([side, price, size]) => [
            `${side} ${price}`,
            [side, price, size, 1] satisfies LevelChangeRow,
          ]),
        );
        applyLevelChanges(levels, [...rows.values()]);
        for (const [side, price, size] of rows.values())
          if (size === 0) expected[side].delete(price);
          else expected[side].set(price, size);
        const sorted = (side: "buy" | "sell") =>
          [...expected[side]]
            .map(([price, size]) => ({ price, size }))
            .sort((a, b) => (side === "buy" ? b.price - a.price : a.price - b.price));
        expect([levels.bids, levels.asks]).toEqual([sorted("buy"), sorted("sell")]);
      }
    }),
  ));
