import { describe, expect, it } from "vitest";
import type { EndpointLease } from "../app/webhooks/sending.js";
import { createEndpointQueue, type Job } from "./endpoint-queue.js";

const lease = {
  tenantId: "tenant",
  endpointId: "endpoint",
  fence: "1",
  endpoint: { version: 1, failingSince: null },
} as EndpointLease;
const concurrency = 2;

function job(id: string, options: { subjectId?: string; sequence?: number; attempts?: number } = {}): Job {
  const { subjectId = id, sequence = 1, attempts = 0 } = options;
  const isFirst = attempts === 0;
  return {
    due: { tenantId: "tenant", endpointId: "endpoint", id, sequence, attempts, isFirst },
    event: { kind: "transaction.updated", subjectId, before: "", after: "" },
  };
}

function queueWith(...jobs: Job[]) {
  const queue = createEndpointQueue(lease, concurrency);
  queue.request(10);
  queue.add(jobs, dueOf(jobs));
  return queue;
}
const dueOf = (jobs: readonly Job[]) => jobs.map(({ due }) => due);
const idOf = (taken: Job | undefined) => taken?.due.id;

describe("the queue of an endpoint", () => {
  it("has no more requests under way than its concurrency allows", () => {
    const queue = queueWith(job("a"), job("b"), job("c"));
    const [first] = [queue.take(0), queue.take(0)];
    expect(queue.take(0)).toBeUndefined();
    if (first !== undefined) queue.finish(first, "delivered", 0);
    expect(idOf(queue.take(0))).toBe("c");
  });

  it("holds a first attempt back while another for the same subject is under way, but not those of other subjects", () => {
    const queue = queueWith(job("v2", { subjectId: "s" }), job("v3", { subjectId: "s" }), job("other"));
    const first = queue.take(0);
    expect([idOf(first), idOf(queue.take(0))]).toEqual(["v2", "other"]);
    if (first !== undefined) queue.finish(first, "failed", 0);
    expect(idOf(queue.take(0))).toBe("v3");
  });

  it("does not hold a further attempt back: it has lost its place in the order", () => {
    const queue = queueWith(job("v2", { subjectId: "s" }), job("v1", { subjectId: "s", attempts: 1 }));
    expect([idOf(queue.take(0)), idOf(queue.take(0))]).toEqual(["v2", "v1"]);
  });

  it("does not regard as new what was recorded while the store was asked", () => {
    const queue = queueWith(job("a"));
    const taken = queue.take(0);
    if (taken !== undefined) queue.finish(taken, "delivered", 0);
    queue.request(10);
    // The store has read the row before it was moved; the report that it was moved arrives first.
    queue.forget("a");
    expect(queue.isNew("a")).toBe(false);
    queue.request(10);
    expect(queue.isNew("a")).toBe(true);
  });

  it("asks for first attempts after the last that it has taken", () => {
    const queue = queueWith(job("a", { sequence: 7 }), job("b", { sequence: 9 }));
    expect(queue.request(10)).toMatchObject({
      afterSequence: 9,
      firstAttemptsMax: 10,
      furtherAttemptsMax: 12,
    });
  });

  it("expects more if it got all that it asked for", () => {
    const queue = createEndpointQueue(lease, concurrency);
    queue.mayHaveMore = false;
    queue.request(2);
    queue.add([job("a")], dueOf([job("a")]));
    expect(queue.mayHaveMore).toBe(false);
    queue.request(2);
    queue.add([job("b")], dueOf([job("a"), job("b")]));
    expect(queue.mayHaveMore).toBe(true);
  });

  it("moves past a delivery whose event cannot be presented", () => {
    const queue = createEndpointQueue(lease, concurrency);
    const [sendable, failed] = [job("a", { sequence: 7 }), job("b", { sequence: 9 })];
    queue.request(10);
    queue.add([sendable], dueOf([sendable, failed]));
    expect(queue.request(10)).toMatchObject({ afterSequence: 9 });
    expect([idOf(queue.take(0)), idOf(queue.take(0))]).toEqual(["a", undefined]);
  });

  it("reports when its endpoint begins to fail and when it recovers, but not every attempt", () => {
    const jobs = ["a", "b", "c", "d"].map((id) => job(id));
    const queue = queueWith(...jobs);
    const verdicts = ["failed", "failed", "delivered", "delivered"] as const;
    const changes = verdicts.map((verdict, index) => {
      const taken = queue.take(index);
      return taken && queue.finish(taken, verdict, index * 1000);
    });
    expect(changes.map((change) => change?.failingSince)).toEqual([new Date(0), undefined, null, undefined]);
  });

  it("sends nothing more when it is closed, and is idle when what was under way is recorded", () => {
    const queue = queueWith(job("a"), job("b"));
    const taken = queue.take(0);
    queue.close();
    expect([queue.take(0), queue.isIdle()]).toEqual([undefined, false]);
    if (taken !== undefined) queue.finish(taken, "delivered", 0);
    queue.forget("a");
    expect(queue.isIdle()).toBe(true);
  });

  it("takes nothing that was read for it before it was closed", () => {
    const queue = createEndpointQueue(lease, concurrency);
    queue.request(10);
    queue.close();
    queue.add([job("a")], dueOf([job("a")]));
    expect(queue.isIdle()).toBe(true);
  });

  it("returns what it holds to the store when the endpoint does not answer, but for one of each kind, and reads it again", () => {
    const fresh = Array.from({ length: 20 }, (_, number) => job(`f${number}`, { sequence: number + 1 }));
    const again = ["r0", "r1"].map((id) => job(id, { attempts: 1, sequence: 1 }));
    const queue = createEndpointQueue(lease, concurrency);
    queue.request(30);
    queue.add([...fresh, ...again], dueOf([...fresh, ...again]));
    for (let failures = 0; failures < 8; failures++) {
      const taken = queue.take(0);
      if (taken === undefined) throw new Error("nothing is left");
      queue.finish(taken, "failed", 0);
      queue.forget(taken.due.id);
    }
    expect(queue.take(1)).toBeUndefined();
    // The retry comes first: fresh ones are always there.
    expect(idOf(queue.take(6000))).toBe("r0");
    expect([queue.wantsMore(), queue.isIdle()]).toEqual([false, false]);
    // From the first that was returned on; what is still here is not new.
    expect(queue.request(30).afterSequence).toBe(9);
    expect([queue.isNew("f8"), queue.isNew("f9"), queue.isNew("r1")]).toEqual([false, true, true]);
  });

  it("reads again what it returned while the store was asked", () => {
    const fresh = Array.from({ length: 12 }, (_, number) => job(`f${number}`, { sequence: number + 1 }));
    const queue = createEndpointQueue(lease, concurrency);
    queue.request(20);
    queue.add(fresh, dueOf(fresh));
    const taken = Array.from({ length: 7 }, () => {
      const one = queue.take(0);
      if (one !== undefined) queue.finish(one, "failed", 0);
      return one;
    });
    expect(taken.every((one) => one !== undefined)).toBe(true);
    queue.request(20);
    const last = queue.take(0);
    if (last !== undefined) queue.finish(last, "failed", 0);
    const later = [job("f99", { sequence: 99 })];
    queue.add(later, dueOf(later));
    expect(queue.request(20).afterSequence).toBe(9);
  });

  it("counts an attempt that was abandoned neither as under way nor against the endpoint", () => {
    const queue = queueWith(job("v1", { subjectId: "s" }), job("v2", { subjectId: "s" }));
    for (const id of ["v1", "v2"]) {
      const taken = queue.take(0);
      expect(idOf(taken)).toBe(id);
      if (taken !== undefined) queue.abandon(taken, 0);
    }
    expect(queue.failingForMs(1000)).toBe(0);
  });

  it("ends a pause when the endpoint was changed and is not failing any more, and not at an ordinary renewal", () => {
    const queue = queueWith(
      ...Array.from({ length: 10 }, (_, index) => job(`j${index}`, { sequence: index })),
    );
    for (let failures = 0; failures < 8; failures++) {
      const taken = queue.take(0);
      if (taken !== undefined) queue.finish(taken, "failed", 0);
    }
    expect(queue.take(0)).toBeUndefined();
    const renewed = (version: number, failingSince: Date | null) =>
      queue.renew({ ...lease, endpoint: { ...lease.endpoint, version, failingSince } });
    renewed(1, null);
    renewed(2, new Date(0));
    expect([queue.take(0), queue.isFailing()]).toEqual([undefined, true]);
    renewed(3, null);
    expect([idOf(queue.take(0)), queue.isFailing()]).toEqual(["j8", false]);
  });

  it("pauses after a fault of the service that every delivery has, without counting it against the endpoint", () => {
    const queue = queueWith(
      ...Array.from({ length: 10 }, (_, index) => job(`j${index}`, { sequence: index })),
    );
    for (let faults = 0; faults < 8; faults++) {
      const taken = queue.take(0);
      expect(taken).toBeDefined();
      if (taken !== undefined) queue.abandon(taken, 0);
    }
    expect([queue.take(0), queue.take(4999)]).toEqual([undefined, undefined]);
    expect(idOf(queue.take(5000))).toBe("j8");
    expect(queue.failingForMs(5000)).toBe(0);
  });
});
