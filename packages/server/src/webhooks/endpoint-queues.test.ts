import { beforeEach, describe, expect, it } from "vitest";
import { type EndpointKey, type EndpointLease, endpointName } from "../app/webhooks/sending.js";
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

describe("more busy endpoints than there are queues", () => {
  const tenants = Array.from({ length: 10 }, (_, number) => `tenant ${number}`);
  const keysOf = (tenantId: string, count: number) =>
    Array.from({ length: count }, (_, number) => ({
      tenantId,
      endpointId: `e${String(number).padStart(3, "0")}`,
    }));

  /** A store in which everything is always due, and queues that look once a second. */
  function createWorld(endpoints: readonly EndpointKey[], isTampered = (_: EndpointKey) => false) {
    const sorted = endpoints
      .map((key) => ({ key, name: endpointName(key) }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const held = new Set<string>();
    let monotonicMs = 0;
    const queues = createEndpointQueues({
      store: {
        leases: {
          acquire: async ({ tenantIds, areFailing, limit, after }) => {
            const from = after === undefined ? "" : endpointName(after);
            const free = sorted.filter(({ key, name }) => {
              const isWanted = tenantIds === "any" || tenantIds.includes(key.tenantId);
              return !areFailing && isWanted && !held.has(name) && name > from;
            });
            const acquired = free.slice(0, limit);
            for (const { name } of acquired) held.add(name);
            return acquired.map(
              ({ key }) =>
                ({
                  ...{ ...key, holder: "h", fence: "1" },
                  endpoint: { failingSince: null, isTampered: isTampered(key) },
                }) as EndpointLease,
            );
          },
          renew: async (leases) => [...leases],
          release: async (leases) => {
            for (const lease of leases) held.delete(endpointName(lease));
          },
        },
      },
      holder: "h",
      concurrency: 4,
      now: () => monotonicMs,
      monotonicMs: () => monotonicMs,
    });
    const look = async () => {
      monotonicMs += 1000;
      await queues.maintain(false);
      for (const queue of queues.all()) queue.mayHaveMore = true;
      return await queues.acquire("any");
    };
    return { queues, look };
  }

  it("have their turn, also those of the youngest tenant", async () => {
    const youngest = keysOf("tenant of today", 3);
    const { queues, look } = createWorld([
      ...tenants.flatMap((tenantId) => keysOf(tenantId, 500)),
      ...youngest,
    ]);
    const served = new Set<string>();
    for (let round = 0; round < 15; round++) {
      await look();
      expect(queues.count()).toBeLessThanOrEqual(5000);
      for (const key of youngest) if (queues.find(key) !== undefined) served.add(key.endpointId);
    }
    expect(served.size).toBe(youngest.length);
  });

  it("are reached behind those that were tampered with, which have no queue", async () => {
    const youngest = keysOf("tenant of today", 3);
    const tampered = tenants.flatMap((tenantId) => keysOf(tenantId, 200));
    const { queues, look } = createWorld([...tampered, ...youngest], ({ tenantId }) =>
      tenants.includes(tenantId),
    );
    // Each look says that there is more, also one that has found nothing to send to.
    for (let hasMore = true; hasMore; ) hasMore = await look();
    expect([...queues.all()].map(({ lease }) => lease.tenantId)).toEqual(
      youngest.map(({ tenantId }) => tenantId),
    );
  });

  it("take no queue of a tenant that has few, and all of theirs in turn", async () => {
    const few = keysOf("a small tenant", 5);
    const busy = tenants.flatMap((tenantId) => keysOf(tenantId, 520));
    const { queues, look } = createWorld([...few, ...busy]);
    const served = new Set<string>();
    for (let round = 0; round < 15; round++) {
      await look();
      for (const { lease } of queues.all()) served.add(endpointName(lease));
      expect(few.filter((key) => queues.find(key) === undefined)).toEqual([]);
    }
    expect(served.size).toBe(few.length + busy.length);
  });

  it("are acquired without a pause while there is room", async () => {
    const { queues, look } = createWorld(keysOf("one", 1100));
    expect([await look(), await look(), await look()]).toEqual([true, true, true]);
    expect(queues.count()).toBe(1100);
    // The first of them were not looked at since.
    expect(await look()).toBe(false);
  });
});
