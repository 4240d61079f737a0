import { describe, expect, it } from "vitest";
import type { KnownDatabase } from "../../../runtime/database/database-identity.js";
import { findRefusal } from "./refused-server.js";

const known: KnownDatabase = {
  generation: 3,
  cluster: "c",
  timeline: "00000004",
  installation: "i",
  epoch: { id: "seven", number: 7 },
};
const same = {
  cluster: "c",
  timeline: "00000004",
  installation: "i",
  epoch: { id: "seven", number: 7 },
};
const nothing = { cluster: "d", timeline: "00000001", installation: undefined, epoch: undefined };

describe("a server is refused", () => {
  const factsOf = (found: Partial<typeof same>, hasOthers = true) =>
    findRefusal({ ...same, ...found }, known, hasOthers)?.facts;

  it("on an earlier timeline of the cluster", () => {
    expect(factsOf({ timeline: "00000003" })).toEqual({ timeline: "00000003", seen_timeline: "00000004" });
  });

  it("in an earlier epoch of the same timeline, which another standby was promoted to", () => {
    expect(factsOf({ epoch: { id: "six", number: 6 } })).toEqual({ epoch: "6", seen_epoch: "7" });
  });

  it("with the tables of another installation, also if it is the only server", () => {
    const facts = { installation: "j", seen_installation: "i" };
    expect(factsOf({ cluster: "d", installation: "j" })).toEqual(facts);
    expect(factsOf({ installation: "j" }, false)).toEqual(facts);
  });

  it("without tables in another cluster", () => {
    expect(findRefusal(nothing, known, true)?.facts).toEqual({ cluster: "d", seen_cluster: "c" });
  });
});

describe("a server is not refused", () => {
  it("if a process knows nothing yet", () => {
    expect(findRefusal(nothing, { generation: 0 }, true)).toBeUndefined();
    expect(findRefusal(same, { generation: 0 }, true)).toBeUndefined();
  });

  it("after a promotion, even if the standby has not received the last epoch", () => {
    const found = { ...same, timeline: "00000005", epoch: { id: "six", number: 6 } };
    expect(findRefusal(found, known, true)).toBeUndefined();
  });

  it("after a restore to another cluster", () => {
    const found = { ...same, cluster: "d", timeline: "00000001", epoch: { id: "two", number: 2 } };
    expect(findRefusal(found, known, true)).toBeUndefined();
  });

  it("if it is the only one, and an operator has put a copy back or emptied it", () => {
    expect(findRefusal({ ...same, epoch: { id: "six", number: 6 } }, known, false)).toBeUndefined();
    expect(findRefusal(nothing, known, false)).toBeUndefined();
  });
});
