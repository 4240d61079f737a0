import { describe, expect, it } from "vitest";
import { groupOpinions, weighOpinions } from "./weigh-opinions.js";

/** The table of docs/decisions/0046-chain-nodes.md: what each node says, those that do not answer left out. */
const table: readonly [nodes: number, says: string, kind: string, value: string | undefined, odd: string][] =
  [
    [1, "a", "agreed", "a", ""],
    [2, "a", "unsure", undefined, ""],
    [2, "aa", "agreed", "a", ""],
    [2, "ab", "disputed", undefined, ""],
    [3, "a", "unsure", undefined, ""],
    [3, "aa", "agreed", "a", ""],
    [3, "ab", "disputed", undefined, ""],
    [3, "aaa", "agreed", "a", ""],
    [3, "baa", "agreed", "a", "0"],
    [3, "aab", "agreed", "a", "2"],
    [3, "abc", "disputed", undefined, ""],
    [4, "aaab", "agreed", "a", "3"],
    [4, "aab", "agreed", "a", "2"],
    [4, "aabb", "disputed", undefined, ""],
    [4, "aabc", "disputed", undefined, ""],
    [5, "abcaa", "agreed", "a", "1,2"],
    [5, "aaabb", "agreed", "a", "3,4"],
    [5, "aabbc", "disputed", undefined, ""],
  ];

const opinionsOf = (says: string) =>
  groupOpinions(
    [...says].map((value, index) => ({ name: String(index), value })),
    (value) => value,
  );

describe("what nodes say together", () => {
  it.each(table)("of %i nodes that say %s is %s", (nodes, says, kind, value, odd) => {
    const verdict = weighOpinions(opinionsOf(says), nodes);
    expect(verdict.kind).toBe(kind);
    if (verdict.kind === "agreed") expect([verdict.value, verdict.others.join()]).toEqual([value, odd]);
  });

  it("needs more than half of the nodes that answer, also of those that have nothing to say about it", () => {
    expect(weighOpinions(opinionsOf("aa"), 4, 4).kind).toBe("unsure");
    expect(weighOpinions(opinionsOf("aaa"), 4, 4).kind).toBe("agreed");
    expect(weighOpinions(opinionsOf("ab"), 3, 3).kind).toBe("disputed");
  });
});
