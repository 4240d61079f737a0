import { describe, expect, it } from "vitest";
import { type CommittedFact, createCommitWitnesses } from "./commit-witnesses.js";

const event = (tenantId: string, at: number): CommittedFact => ({ kind: "event", tenantId, at, mark: "m" });

describe("what a process knows to be committed", () => {
  it("is the last event of a tenant, even if the answers to two commits overtake each other", () => {
    const witnesses = createCommitWitnesses(() => 0);
    witnesses.committed(0, event("one", 2));
    witnesses.committed(0, event("one", 1));
    expect(witnesses.list()).toEqual([event("one", 2)]);
  });

  it("is the last row of a tenant", () => {
    const witnesses = createCommitWitnesses(() => 0);
    const row = (at: string): CommittedFact => ({ kind: "transaction", tenantId: "one", at, mark: "" });
    witnesses.committed(0, row("b"));
    witnesses.committed(0, row("a"));
    expect(witnesses.list()).toEqual([row("a")]);
  });

  it("is bounded, and what is read does not displace what was committed", () => {
    const witnesses = createCommitWitnesses(() => 0);
    witnesses.committed(0, event("busy", 1));
    for (let n = 0; n < 1000; n++) witnesses.read(0, event(`tenant ${n}`, 1));
    expect(witnesses.list()).toHaveLength(65);
    expect(witnesses.list()).toContainEqual(event("busy", 1));
    expect(witnesses.list()).toContainEqual(event("tenant 999", 1));
  });

  it("is not what an earlier generation of the database has answered", () => {
    let generation = 0;
    const witnesses = createCommitWitnesses(() => generation);
    generation = 1;
    witnesses.committed(0, event("one", 1));
    expect(witnesses.list()).toEqual([]);
    witnesses.committed(1, event("one", 1));
    witnesses.beginEpoch();
    expect(witnesses.list()).toEqual([]);
  });

  it("is remembered of an audit log across epochs, until the log goes on", () => {
    const witnesses = createCommitWitnesses(() => 0);
    const entry = (at: number): CommittedFact => ({ kind: "audit entry", tenantId: "one", at, mark: "" });
    witnesses.committed(0, entry(7));
    expect(witnesses.lastEntry("one")).toEqual({ ...entry(7), isOfEarlierEpoch: false });
    witnesses.beginEpoch();
    witnesses.beginEpoch();
    expect(witnesses.lastEntry("one")).toEqual({ ...entry(7), isOfEarlierEpoch: true });
    // It was found there, and not appended.
    witnesses.committed(0, entry(5));
    expect(witnesses.lastEntry("one")).toEqual({ ...entry(7), isOfEarlierEpoch: true });
    const appended = { ...entry(6), transaction: { id: "6", serverStartedUs: "1", begunUs: "2" } };
    witnesses.sent(0, appended);
    witnesses.committed(0, appended);
    expect(witnesses.lastEntry("one")).toEqual({ ...appended, isOfEarlierEpoch: false });
  });

  it("is remembered of an audit log also if the answer comes in the next epoch", () => {
    let generation = 0;
    const witnesses = createCommitWitnesses(() => generation);
    const entry = (at: number): CommittedFact => ({ kind: "audit entry", tenantId: "one", at, mark: "" });
    generation = 1;
    witnesses.beginEpoch();
    witnesses.committed(0, entry(7));
    expect(witnesses.list()).toEqual([]);
    expect(witnesses.lastEntry("one")).toEqual({ ...entry(7), isOfEarlierEpoch: true });
  });

  it("is an audit entry in doubt only after it was found out, and once", () => {
    let generation = 0;
    const witnesses = createCommitWitnesses(() => generation);
    const entry = (at: number): CommittedFact => ({
      ...{
        kind: "audit entry",
        tenantId: "one",
        at,
        mark: "",
        transaction: { id: `${at}`, serverStartedUs: "1", begunUs: "2" },
      },
    });
    const [rolledBack, committed, late] = [entry(5), entry(6), entry(7)];
    for (const fact of [rolledBack, committed, late]) witnesses.sent(0, fact);
    expect(witnesses.lastEntry("one")).toBeUndefined();
    expect(witnesses.entriesInDoubt("two")).toEqual([]);
    witnesses.settle(rolledBack, false);
    witnesses.settle(committed, true);
    expect(witnesses.entriesInDoubt("one")).toEqual([late]);
    expect(witnesses.lastEntry("one")).toMatchObject({ at: 6, isOfEarlierEpoch: false });
    generation = 1;
    witnesses.beginEpoch();
    witnesses.settle(late, true);
    expect(witnesses.lastEntry("one")).toMatchObject({ at: 7, isOfEarlierEpoch: true });
    const next = entry(8);
    witnesses.sent(1, next);
    witnesses.committed(1, next);
    // Its answer, after all.
    witnesses.committed(0, late);
    expect(witnesses.lastEntry("one")).toMatchObject({ at: 8, isOfEarlierEpoch: false });
  });
});
