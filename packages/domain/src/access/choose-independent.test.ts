import { array, assert, bigInt, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseIndependent } from "./choose-independent.js";
import { areIndependent, type Lineage } from "./lineage.js";

const bits = (...members: number[]): Lineage => members.reduce((all, one) => all | (1n << BigInt(one)), 0n);

/** The largest of all subsets whose members are independent of each other. */
function countByForce([first, ...rest]: readonly Lineage[]): number {
  if (first === undefined) return 0;
  const others = rest.filter((one) => areIndependent(one, first));
  return Math.max(countByForce(rest), 1 + countByForce(others));
}

function countInOrder(lineages: readonly Lineage[]): number {
  const kept: Lineage[] = [];
  for (const lineage of lineages) if (kept.every((one) => areIndependent(one, lineage))) kept.push(lineage);
  return kept.length;
}

const countIndependent = (lineages: readonly Lineage[]) => chooseIndependent(lineages).length;

describe("the number of independent clients", () => {
  it("counts clients of one lineage once", () => {
    expect(countIndependent([bits(0, 9), bits(1, 9), bits(2), bits(3, 2)])).toBe(2);
    expect(countIndependent([bits(0), bits(0)])).toBe(1);
    expect(countIndependent([])).toBe(0);
  });

  it("does not depend on whether a client comes first that depends on two others", () => {
    const [a, b, c] = [bits(0, 8, 9), bits(1, 8), bits(2, 9)];
    for (const order of [
      [a, b, c],
      [b, c, a],
      [b, a, c],
    ])
      expect(countIndependent(order)).toBe(2);
  });

  it("does not depend on which lineages are small", () =>
    expect(countIndependent([bits(0, 8, 9), bits(1, 8, 10, 11, 12), bits(2, 9, 13, 14, 15)])).toBe(2));

  it("is not lowered by many clients of one creator that depend on two others", () => {
    const children = Array.from({ length: 48 }, (_, index) => bits(100 + index, 8, 9));
    expect(countIndependent([...children, bits(1, 8), bits(2, 9)])).toBe(2);
  });

  it("is the largest there is among up to 12, in any order", () =>
    assert(
      property(array(bigInt(1n, 4095n), { maxLength: 12 }), (lineages) => {
        const largest = countByForce(lineages);
        expect(countIndependent(lineages)).toBe(largest);
        expect(countIndependent(lineages.toReversed())).toBe(largest);
      }),
      { numRuns: 500 },
    ));

  it("is never more than there are, and never fewer than in the order of the decisions", () => {
    // Few members each, so that the graphs are sparse, which is where a search takes long.
    const sparse = array(array(bigInt(0n, 29n), { minLength: 1, maxLength: 3 }), { maxLength: 24 });
    return assert(
      property(sparse, (members) => {
        const lineages = members.map((own) => own.reduce((all, one) => all | (1n << one), 0n));
        const count = countIndependent(lineages);
        expect(count).toBeLessThanOrEqual(countByForce(lineages));
        expect(count).toBeGreaterThanOrEqual(countInOrder(lineages));
      }),
    );
  });

  it("is that of clients of which no two depend on each other, the first of equals", () => {
    expect(chooseIndependent([bits(0), bits(0), bits(1)])).toEqual([0, 2]);
    expect(chooseIndependent([bits(0, 9), bits(1, 9), bits(2)])).toEqual([0, 2]);
    expect(chooseIndependent([bits(0, 8, 9), bits(1, 8), bits(2, 9)])).toEqual([1, 2]);
    return assert(
      property(array(bigInt(1n, 4095n), { maxLength: 12 }), (lineages) => {
        const chosen = chooseIndependent(lineages).map((index) => lineages[index] ?? 0n);
        expect(countInOrder(chosen)).toBe(chosen.length);
      }),
    );
  });
});
