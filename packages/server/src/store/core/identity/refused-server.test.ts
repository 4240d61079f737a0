import { describe, expect, it } from "vitest";
import type { KnownDatabase } from "../../../runtime/database/database-identity.js";
import { findRefusal } from "./refused-server.js";

const known: KnownDatabase = {
  generation: 3,
  server: "new",
  cluster: "c",
  timeline: "00000004",
  installation: "i",
  epoch: { id: "seven", number: 7, startedUs: 70 },
};
const same = {
  server: "old",
  cluster: "c",
  timeline: "00000004",
  installation: "i",
  epoch: { id: "seven", number: 7, startedUs: 70 },
};
const nothing = {
  server: "old",
  cluster: "d",
  timeline: "00000001",
  installation: undefined,
  epoch: undefined,
};

describe("a server is refused", () => {
  const factsOf = (found: Partial<typeof same>, hasOthers = true) =>
    findRefusal({ ...same, ...found }, known, hasOthers)?.facts;

  it("on an earlier timeline of the cluster", () => {
    expect(factsOf({ timeline: "00000003" })).toEqual({ timeline: "00000003", seen_timeline: "00000004" });
  });

  it("in an earlier epoch of the same timeline, which another standby was promoted to", () => {
    expect(factsOf({ epoch: { id: "six", number: 6, startedUs: 80 } })).toEqual({
      epoch: "6 six",
      seen_epoch: "7 seven",
    });
  });

  it("in an epoch of the same number and timeline that was begun before the known one", () => {
    expect(factsOf({ epoch: { id: "other", number: 7, startedUs: 69 } })).toEqual({
      epoch: "7 other",
      seen_epoch: "7 seven",
    });
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
    const found = { ...same, timeline: "00000005", epoch: { id: "six", number: 6, startedUs: 60 } };
    expect(findRefusal(found, known, true)).toBeUndefined();
  });

  it("after the promotion of another standby to a timeline of the same number, on which no epoch was begun yet", () => {
    const epoch = { id: "six", number: 6, startedUs: 60, timeline: "00000003" };
    expect(findRefusal({ ...same, epoch }, known, true)).toBeUndefined();
    expect(findRefusal({ ...same, epoch: { ...epoch, timeline: same.timeline } }, known, true)).toBeDefined();
  });

  it("in an epoch of the same number that was begun after the known one", () => {
    const found = { ...same, epoch: { id: "other", number: 7, startedUs: 71 } };
    expect(findRefusal(found, known, true)).toBeUndefined();
  });

  it("after a restore to another cluster", () => {
    const found = {
      ...same,
      cluster: "d",
      timeline: "00000001",
      epoch: { id: "two", number: 2, startedUs: 20 },
    };
    expect(findRefusal(found, known, true)).toBeUndefined();
  });

  it("if it is the known one, and a dump from an earlier epoch was restored in it", () => {
    const found = { ...same, server: "new", epoch: { id: "six", number: 6, startedUs: 60 } };
    expect(findRefusal(found, known, true)).toBeUndefined();
    expect(findRefusal({ ...found, server: "old" }, known, true)).toBeDefined();
  });

  it("if an operator has begun its epoch after the known one, whatever its number", () => {
    const found = { ...same, epoch: { id: "six", number: 6, startedUs: 71, isRecovered: true } };
    expect(findRefusal(found, known, true)).toBeUndefined();
    expect(findRefusal({ ...found, epoch: { ...found.epoch, startedUs: 69 } }, known, true)).toBeDefined();
  });

  it("if it is the only one, and an operator has put a copy back or emptied it", () => {
    expect(
      findRefusal({ ...same, epoch: { id: "six", number: 6, startedUs: 60 } }, known, false),
    ).toBeUndefined();
    expect(findRefusal(nothing, known, false)).toBeUndefined();
  });
});
