import { beforeEach, describe, expect, it } from "vitest";
import type { EndpointLease } from "../app/webhooks/sending.js";
import type { Job } from "./endpoint-queue.js";
import { createEndpointQueues, type EndpointQueues, lookAgainAfterMs } from "./endpoint-queues.js";

describe("looking for endpoints that no process sends to", () => {
  let monotonicMs: number;
  let looks: (readonly string[] | "any")[];
  let queues: EndpointQueues;
  beforeEach(() => {
    monotonicMs = 0;
    looks = [];
    queues = createEndpointQueues({
      store: {
        leases: {
          acquire: async ({ tenantIds, areFailing }) => {
            if (!areFailing) looks.push(tenantIds);
            return [];
          },
          renew: async () => [],
          release: async () => undefined,
        },
      },
      holder: "holder",
      concurrency: 4,
      now: () => monotonicMs,
      monotonicMs: () => monotonicMs,
    });
  });

  it("happens at once for a tenant that was not looked at lately, whatever others do", async () => {
    await queues.acquire(["one"]);
    await queues.acquire(["another"]);
    expect(looks).toEqual([["one"], ["another"]]);
    expect(queues.hasPostponed()).toBe(false);
  });

  it("is postponed for a tenant that was looked at a moment ago, and not forgotten", async () => {
    await queues.acquire(["one"]);
    await queues.acquire(["one"]);
    expect(looks).toEqual([["one"]]);
    expect(queues.hasPostponed()).toBe(true);
    monotonicMs += lookAgainAfterMs;
    await queues.acquire([]);
    expect(looks).toEqual([["one"], ["one"]]);
    expect(queues.hasPostponed()).toBe(false);
  });

  it("is done for all postponed tenants by a look at every tenant", async () => {
    await queues.acquire(["one"]);
    await queues.acquire(["one"]);
    await queues.acquire("any");
    expect(looks).toEqual([["one"], "any"]);
    expect(queues.hasPostponed()).toBe(false);
  });
});

describe("endpoints that are failing", () => {
  const failingCount = 1200;
  const leaseOf = (endpointId: string, failingSince: Date | null) =>
    ({ tenantId: "t", endpointId, holder: "h", fence: "1", endpoint: { failingSince } }) as EndpointLease;

  it("leave room for others: those that pause are released for as long as they would pause", async () => {
    const healthy = Array.from({ length: failingCount }, (_, number) => leaseOf(`e${number}`, null));
    const released: { count: number; restMs: number | undefined }[] = [];
    const limits: { areFailing: boolean; limit: number }[] = [];
    const queues = createEndpointQueues({
      store: {
        leases: {
          acquire: async ({ areFailing, limit }) => {
            limits.push({ areFailing, limit });
            return areFailing ? [] : healthy.splice(0, limit);
          },
          renew: async (leases) => [...leases],
          release: async (leases, restMs) => void released.push({ count: leases.length, restMs }),
        },
      },
      holder: "h",
      concurrency: 4,
      now: () => 0,
      monotonicMs: () => 0,
    });
    for (let round = 0; round < 3; round++) await queues.acquire("any");
    expect(queues.count()).toBe(failingCount);
    const job = { due: { id: "d", attempts: 0 }, event: { subjectId: "s" } } as Job;
    for (const queue of queues.all())
      for (let failure = 0; failure < 8; failure++) {
        queue.add([job], []);
        queue.take(0);
        queue.finish(job, "failed", 0);
        queue.forget("d");
      }
    await queues.maintain(false);
    expect(released.filter(({ count }) => count > 0)).toEqual([{ count: 200, restMs: 5000 }]);
    expect(queues.count()).toBe(1000);
    // What fails is not acquired any more, and what does not still is.
    limits.length = 0;
    await queues.acquire("any");
    expect(limits).toEqual([{ areFailing: false, limit: 500 }]);
  });

  it("begin with a single request when they are acquired again", async () => {
    const queues = createEndpointQueues({
      store: {
        leases: {
          acquire: async ({ areFailing }) => (areFailing ? [leaseOf("e", new Date(0))] : []),
          renew: async () => [],
          release: async () => undefined,
        },
      },
      holder: "h",
      concurrency: 4,
      now: () => 0,
      monotonicMs: () => 0,
    });
    await queues.acquire("any");
    const [queue] = queues.all();
    const jobs = ["a", "b"].map((id) => ({ due: { id, attempts: 1 }, event: { subjectId: id } }) as Job);
    queue?.add(jobs, []);
    expect([queue?.take(0), queue?.take(0)]).toEqual([jobs[0], undefined]);
  });
});
