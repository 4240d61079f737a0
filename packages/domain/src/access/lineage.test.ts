import { array, assert, integer, nat, property, uniqueArray } from "fast-check";
import { describe, expect, it } from "vitest";
import { areIndependent, closeLineages, controllersMax, lineageMax } from "./lineage.js";

type Edges = Record<string, readonly string[]>;

const close = (edges: Edges, wanted = Object.keys(edges)) => {
  const lineages = closeLineages(wanted, (id) => edges[id] ?? []);
  return (one: string, other: string) => areIndependent(lineages.get(one) ?? 0n, lineages.get(other) ?? 0n);
};

describe("independence", () => {
  it("holds between clients that have nobody in common", () =>
    expect(close({ a: ["root"], b: ["other"] })("a", "b")).toBe(true));

  it("does not hold between a client and the one that created it", () => {
    expect(close({ a: [], b: ["a"] })("a", "b")).toBe(false);
    expect(close({ b: ["a"], a: [] })("b", "a")).toBe(false);
  });

  it("does not hold between two clients of one creator, or of one further back", () =>
    expect(close({ a: ["x"], b: ["y"], x: ["root"], y: ["root"] })("a", "b")).toBe(false));

  it("does not hold between a client and itself", () => expect(close({ a: [] })("a", "a")).toBe(false));

  it("does not hold between clients that control each other in a circle, nor their descendants", () => {
    const independent = close({ a: ["b"], b: ["c"], c: ["a"], d: ["c"], e: [] });
    expect(independent("a", "c")).toBe(false);
    expect(independent("d", "b")).toBe(false);
    expect(independent("d", "e")).toBe(true);
  });

  it("holds for nobody who is controlled by too many clients, or descends from such a client", () => {
    const many = Array.from({ length: controllersMax + 1 }, (_, index) => `controller ${index}`);
    const independent = close({ a: many, b: ["a"], c: many.slice(1), d: [] });
    expect([independent("a", "d"), independent("b", "d"), independent("c", "d")]).toEqual([
      false,
      false,
      true,
    ]);
  });
});

describe("a long lineage", () => {
  const chain = Array.from({ length: lineageMax + 1 }, (_, index) => `${index}`);
  const edges: Edges = {
    other: [],
    ...Object.fromEntries(chain.map((id, at) => [id, chain.slice(at - 1, at)])),
  };

  it.each([
    ["the first", chain],
    ["the last", chain.toReversed()],
  ])("is independent of nobody when it has too many clients, beginning with %s", (_name, ids) => {
    const independent = close(edges, [...ids, "other"]);
    expect(independent(`${lineageMax - 1}`, "other")).toBe(true);
    expect(independent(`${lineageMax}`, "other")).toBe(false);
  });
});

describe("lineages", () => {
  it.each([
    ["the first", 1],
    ["the last", -1],
  ])("of a long chain ask once for the controllers of each client, beginning with %s", (_name, direction) => {
    const ids = Array.from({ length: 2000 }, (_, index) => `${index}`);
    let asked = 0;
    const lineages = closeLineages(direction === 1 ? ids : ids.toReversed(), (id) => {
      asked += 1;
      return id === "0" ? [] : [`${Number(id) - 1}`];
    });
    expect(asked).toBe(ids.length);
    expect(areIndependent(lineages.get("0") ?? 0n, lineages.get("1999") ?? 0n)).toBe(false);
  });

  it("share a client exactly if a walk from both reaches one, in any graph", () => {
    const size = 8;
    const graph = array(uniqueArray(nat(size - 1), { maxLength: 3 }), { minLength: size, maxLength: size });
    return assert(
      property(graph, integer({ min: 0, max: size - 1 }), (edges, first) => {
        const ids = Array.from({ length: size }, (_, index) => `${(index + first) % size}`);
        const lineages = closeLineages(ids, (id) => (edges[Number(id)] ?? []).map(String));
        for (const one of ids)
          for (const other of ids) {
            const reached = walk(edges, Number(other));
            const isShared = [...walk(edges, Number(one))].some((id) => reached.has(id));
            expect(areIndependent(lineages.get(one) ?? 0n, lineages.get(other) ?? 0n)).toBe(!isShared);
          }
      }),
    );
  });
});

function walk(edges: readonly (readonly number[])[], from: number): ReadonlySet<number> {
  const seen = new Set([from]);
  for (const one of seen) for (const next of edges[one] ?? []) seen.add(next);
  return seen;
}
