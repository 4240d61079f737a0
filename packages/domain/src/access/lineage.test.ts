import { describe, expect, it } from "vitest";
import { areIndependent, keepIndependent } from "./lineage.js";

const of = (...ids: string[]) => new Set(ids);

describe("independence", () => {
  it("holds between clients that have nobody in common", () =>
    expect(areIndependent(of("a", "root"), of("b", "other"))).toBe(true));

  it("does not hold between a client and the one that created it", () => {
    expect(areIndependent(of("a"), of("b", "a"))).toBe(false);
    expect(areIndependent(of("b", "a"), of("a"))).toBe(false);
  });

  it("does not hold between two clients of one creator, or of one further back", () =>
    expect(areIndependent(of("a", "x", "root"), of("b", "y", "root"))).toBe(false));

  it("does not hold between a client and itself", () => expect(areIndependent(of("a"), of("a"))).toBe(false));

  it("counts clients of one lineage once, in the order of their decisions", () => {
    const said = [of("a", "root"), of("b", "root"), of("c"), of("d", "c")].map((lineage) => ({ lineage }));
    expect(keepIndependent(said)).toEqual([said[0], said[2]]);
  });
});
