import { describe, expect, it } from "vitest";
import { createCommitDoubts, type EntryInDoubt } from "./commit-doubts.js";

const entry = (tenantId: string, at: number): EntryInDoubt => ({
  ...{ kind: "audit entry", tenantId, at, mark: "" },
  transaction: { id: `${at}`, serverStartedUs: "1", begunUs: "2" },
});

describe("audit entries in doubt", () => {
  it("are found by tenant, with the generation that they were sent in, until they are removed", () => {
    const doubts = createCommitDoubts(10);
    const [one, two, other] = [entry("one", 1), entry("one", 2), entry("other", 1)];
    doubts.add(3, one);
    doubts.add(4, two);
    doubts.add(4, other);
    expect(doubts.of("one")).toEqual([one, two]);
    expect(doubts.remove(one)).toBe(3);
    expect(doubts.remove(one)).toBeUndefined();
    expect(doubts.of("one")).toEqual([two]);
    expect(doubts.of("none")).toEqual([]);
  });

  it("are forgotten beyond a number of them, those whose answer is still awaited last", () => {
    const doubts = createCommitDoubts(3);
    const [first, second, third, fourth, fifth] = [1, 2, 3, 4, 5].map((at) => entry("one", at));
    if (!first || !second || !third || !fourth || !fifth) throw new Error("no entries");
    for (const one of [first, second, third]) doubts.add(0, one);
    doubts.unanswered(second);
    doubts.add(0, fourth);
    expect(doubts.of("one")).toEqual([first, third, fourth]);
    // It is forgotten, so this changes nothing.
    doubts.unanswered(second);
    doubts.add(0, fifth);
    expect(doubts.of("one")).toEqual([third, fourth, fifth]);
  });
});
