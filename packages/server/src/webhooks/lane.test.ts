import { describe, expect, it } from "vitest";
import type { Lease } from "../app/webhooks/sending.js";
import { createLane, type Job } from "./lane.js";

const lease = {
  tenantId: "tenant",
  endpointId: "endpoint",
  fence: "1",
  endpoint: { failingSince: null },
} as Lease;
const concurrency = 2;

function job(id: string, options: { subjectId?: string; sequence?: bigint; attempts?: number } = {}): Job {
  const { subjectId = id, sequence = 1n, attempts = 0 } = options;
  const isFirst = attempts === 0;
  return {
    due: { tenantId: "tenant", endpointId: "endpoint", id, sequence, attempts, isFirst },
    text: { subjectId, before: "", after: "" },
  };
}

function laneWith(...jobs: Job[]) {
  const lane = createLane(lease, concurrency, 0);
  lane.wish(10);
  lane.offer(jobs, dueOf(jobs));
  return lane;
}
const dueOf = (jobs: readonly Job[]) => jobs.map(({ due }) => due);
const idOf = (taken: Job | undefined) => taken?.due.id;

describe("a lane", () => {
  it("has no more under way than it may", () => {
    const lane = laneWith(job("a"), job("b"), job("c"));
    const [first] = [lane.take(0), lane.take(0)];
    expect(lane.take(0)).toBeUndefined();
    if (first !== undefined) lane.finish(first, "delivered", 0);
    expect(idOf(lane.take(0))).toBe("c");
  });

  it("holds a first attempt back while another for the same subject is under way, and lets others pass", () => {
    const lane = laneWith(job("v2", { subjectId: "s" }), job("v3", { subjectId: "s" }), job("other"));
    const first = lane.take(0);
    expect([idOf(first), idOf(lane.take(0))]).toEqual(["v2", "other"]);
    if (first !== undefined) lane.finish(first, "failed", 0);
    expect(idOf(lane.take(0))).toBe("v3");
  });

  it("lets a further attempt pass, which has lost its place in the order anyway", () => {
    const lane = laneWith(job("v2", { subjectId: "s" }), job("v1", { subjectId: "s", attempts: 1 }));
    expect([idOf(lane.take(0)), idOf(lane.take(0))]).toEqual(["v2", "v1"]);
  });

  it("does not take for new what was written down while the store was asked", () => {
    const lane = laneWith(job("a"));
    const taken = lane.take(0);
    if (taken !== undefined) lane.finish(taken, "delivered", 0);
    lane.wish(10);
    // The store has read the row before it was moved; the report that it was moved comes first.
    lane.forget("a");
    expect(lane.isNew("a")).toBe(false);
    lane.wish(10);
    expect(lane.isNew("a")).toBe(true);
  });

  it("asks for first attempts after the last that it has taken", () => {
    const lane = laneWith(job("a", { sequence: 7n }), job("b", { sequence: 9n }));
    expect(lane.wish(10)).toMatchObject({ afterSequence: 9n, firstAttemptsMax: 10, furtherAttemptsMax: 12 });
  });

  it("knows that there may be more where it got all that it asked for", () => {
    const lane = createLane(lease, concurrency, 0);
    lane.mayHaveMore = false;
    lane.wish(2);
    lane.offer([job("a")], dueOf([job("a")]));
    expect(lane.mayHaveMore).toBe(false);
    lane.wish(2);
    lane.offer([job("b")], dueOf([job("a"), job("b")]));
    expect(lane.mayHaveMore).toBe(true);
  });

  it("passes over one that has no body", () => {
    const lane = createLane(lease, concurrency, 0);
    const [told, untold] = [job("a", { sequence: 7n }), job("b", { sequence: 9n })];
    lane.wish(10);
    lane.offer([told], dueOf([told, untold]));
    expect(lane.wish(10)).toMatchObject({ afterSequence: 9n });
    expect([idOf(lane.take(0)), idOf(lane.take(0))]).toEqual(["a", undefined]);
  });

  it("says when its endpoint begins to fail, and when it is well again, but not each time", () => {
    const jobs = ["a", "b", "c", "d"].map((id) => job(id));
    const lane = laneWith(...jobs);
    const verdicts = ["failed", "failed", "delivered", "delivered"] as const;
    const changes = verdicts.map((verdict, index) => {
      const taken = lane.take(index);
      return taken && lane.finish(taken, verdict, index * 1000);
    });
    expect(changes.map((change) => change?.failingSince)).toEqual([new Date(0), undefined, null, undefined]);
  });

  it("sends nothing more when it is closed, and is idle when what was under way is written down", () => {
    const lane = laneWith(job("a"), job("b"));
    const taken = lane.take(0);
    lane.close();
    expect([lane.take(0), lane.isIdle()]).toEqual([undefined, false]);
    if (taken !== undefined) lane.finish(taken, "delivered", 0);
    lane.forget("a");
    expect(lane.isIdle()).toBe(true);
  });

  it("puts back what it holds when the endpoint does not answer, but for one of each kind, and reads it again", () => {
    const fresh = Array.from({ length: 20 }, (_, number) =>
      job(`f${number}`, { sequence: BigInt(number + 1) }),
    );
    const again = ["r0", "r1"].map((id) => job(id, { attempts: 1, sequence: 1n }));
    const lane = createLane(lease, concurrency, 0);
    lane.wish(30);
    lane.offer([...fresh, ...again], dueOf([...fresh, ...again]));
    for (let failures = 0; failures < 8; failures++) {
      const taken = lane.take(0);
      if (taken === undefined) throw new Error("nothing is left");
      lane.finish(taken, "failed", 0);
      lane.forget(taken.due.id);
    }
    expect(lane.take(1)).toBeUndefined();
    // The retry comes first: fresh ones are always there.
    expect(idOf(lane.take(6000))).toBe("r0");
    expect([lane.wantsMore(), lane.isIdle()]).toEqual([false, false]);
    // From the first that was put back on; what is still here is not new.
    expect(lane.wish(30).afterSequence).toBe(9n);
    expect([lane.isNew("f8"), lane.isNew("f9"), lane.isNew("r1")]).toEqual([false, true, true]);
  });

  it("reads again also where it was put back while the store was asked", () => {
    const fresh = Array.from({ length: 12 }, (_, number) =>
      job(`f${number}`, { sequence: BigInt(number + 1) }),
    );
    const lane = createLane(lease, concurrency, 0);
    lane.wish(20);
    lane.offer(fresh, dueOf(fresh));
    const taken = Array.from({ length: 7 }, () => {
      const one = lane.take(0);
      if (one !== undefined) lane.finish(one, "failed", 0);
      return one;
    });
    expect(taken.every((one) => one !== undefined)).toBe(true);
    lane.wish(20);
    const last = lane.take(0);
    if (last !== undefined) lane.finish(last, "failed", 0);
    const later = [job("f99", { sequence: 99n })];
    lane.offer(later, dueOf(later));
    expect(lane.wish(20).afterSequence).toBe(9n);
  });
});
