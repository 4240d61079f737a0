import { array, assert, boolean, integer, property, tuple } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createPriceIndex,
  insertSought,
  type PriceIndex,
  removeSought,
  seek,
  seekBest,
  seekNext,
  soughtLevel,
} from "./price-index.js";
import { none } from "./rows.js";

/** All levels, best first. */
function walk(index: PriceIndex): number[] {
  const levels: number[] = [];
  for (let level = seekBest(index); level !== none; level = seekNext(index)) levels.push(level);
  return levels;
}

describe("the price index", () => {
  it("is a sorted set under any inserts and removals", () =>
    assert(
      property(
        array(tuple(integer({ min: -400, max: 400 }), boolean()), { maxLength: 2000, size: "max" }),
        (steps) => {
          const index = createPriceIndex();
          const wanted = new Set<number>();
          for (const [key, isInsert] of steps) {
            const isThere = seek(index, key);
            expect(isThere).toBe(wanted.has(key));
            if (isThere) expect(soughtLevel(index)).toBe(key + 1000);
            if (isInsert && !isThere) insertSought(index, key, key + 1000);
            if (!isInsert && isThere) removeSought(index);
            if (isInsert) wanted.add(key);
            else wanted.delete(key);
          }
          expect(walk(index)).toEqual([...wanted].sort((a, b) => b - a).map((key) => key + 1000));
        },
      ),
      { numRuns: 30 },
    ));

  it("frees its chunks as it empties, from either end and from the middle", () => {
    for (const order of [
      (a: number, b: number) => a - b,
      (a: number, b: number) => b - a,
      (a: number, b: number) => (a % 7) - (b % 7),
    ]) {
      const index = createPriceIndex();
      const keys = Array.from({ length: 5000 }, (_, key) => key);
      // Every second key first, so that later ones find chunks to fill up.
      for (const key of keys.toSorted((a, b) => (a % 2) - (b % 2))) {
        if (!seek(index, key)) insertSought(index, key, key);
      }
      expect(index.starts.length).toBeGreaterThan(30);
      for (const [removed, key] of keys.toSorted(order).entries()) {
        expect(seek(index, key)).toBe(true);
        removeSought(index);
        expect(index.starts.length).toBeLessThan(2 + (5000 - removed) / 8);
      }
      expect(index.starts).toHaveLength(1);
      expect(walk(index)).toEqual([]);
    }
  });

  it("never keeps a chunk for each level, whatever the order of inserts and removals", () => {
    for (const direction of [1, -1]) {
      const index = createPriceIndex();
      const blockLength = 64;
      const blocks = 200;
      for (let block = 0; block < blocks; block++) {
        for (let key = block * blockLength; key < (block + 1) * blockLength; key++)
          if (!seek(index, direction * key)) insertSought(index, direction * key, key);
        // Of the block before, one level stays.
        for (let key = (block - 1) * blockLength + 1; key < block * blockLength; key++)
          if (seek(index, direction * key)) removeSought(index);
      }
      expect(walk(index)).toHaveLength(blocks - 1 + blockLength);
      expect(index.starts.length).toBeLessThan(2 + (blocks + blockLength) / 16);
    }
  });
});
