import { fullBucket, type Quota, type TokenBucket, takeTokens } from "@bursar/domain";
import { type QuotaClass, quotaClasses } from "@bursar/protocol";
import { array, assert, asyncProperty, integer, record } from "fast-check";
import { describe, expect, it } from "vitest";
import type { ApiClient } from "../clients/client.js";
import { createQuotaKeeper, type QuotaKeeper } from "./quota-keeper.js";
import { chargeQuota, describeQuota, takeForBody, takeQuota } from "./take-quota.js";
import type { QuotaStore } from "./token-reserver.js";

/** A shared bucket in memory, keepers in front of it, and a clock that only the test moves. */
function createWorld(quota: Quota, keeperCount = 1, tenantMultiple = 100) {
  let nowMs = 0;
  const buckets = new Map<string, TokenBucket>();
  const allClasses = (one: Quota) =>
    Object.fromEntries(quotaClasses.map((name) => [name, one])) as Record<QuotaClass, Quota>;
  const { perSecond, burst } = quota;
  let isUnavailable = false;
  const timers: { atMs: number; work: () => void }[] = [];
  const store: QuotaStore = {
    reserve: async (requests) => {
      if (isUnavailable) throw new Error("unavailable");
      return requests.map(({ tenantId, clientId, quota: own, wanted, owed }) => {
        const key = `${tenantId} ${clientId}`;
        const bucket = buckets.get(key) ?? fullBucket(own, nowMs);
        const taken = takeTokens(own, bucket, nowMs, wanted, owed);
        buckets.set(key, taken.bucket);
        return { granted: taken.granted, remaining: taken.bucket.tokens };
      });
    },
  };
  const keepers = Array.from({ length: keeperCount }, () =>
    createQuotaKeeper({
      store,
      defaults: allClasses(quota),
      tenantDefaults: allClasses({ perSecond: perSecond * tenantMultiple, burst: burst * tenantMultiple }),
      monotonicMs: () => nowMs,
      timers: {
        soon: (work) => queueMicrotask(work),
        after: (delayMs, work) => {
          const timer = { atMs: nowMs + delayMs, work };
          timers.push(timer);
          return () => void timers.splice(timers.indexOf(timer), 1);
        },
      },
    }),
  );
  return {
    keepers,
    bucket: () => buckets.get(`${client.tenantId} ${client.id}`) as TokenBucket,
    setUnavailable: (value: boolean) => {
      isUnavailable = value;
    },
    pass: (ms: number) => {
      nowMs += ms;
      for (const due of timers.filter(({ atMs }) => atMs <= nowMs)) {
        timers.splice(timers.indexOf(due), 1);
        due.work();
      }
    },
    /** 0 if the request is admitted, otherwise the seconds to wait. */
    ask: async (keeper: QuotaKeeper, cost = 1, by = client, canStop = false) =>
      await takeQuota(keeper.of(by), { quotaClass: "read", canStop }, nowMs, cost),
    charge: (keeper: QuotaKeeper, cost: number) => chargeQuota(keeper.of(client), "read", nowMs, cost),
    takeForBody: (keeper: QuotaKeeper, cost: number) => takeForBody(keeper.of(client), "read", nowMs, cost),
    state: (keeper: QuotaKeeper, by = client) => describeQuota(keeper.of(by), "read", nowMs).state,
  };
}

const client = { id: "client", tenantId: "tenant", quotas: {} } as ApiClient;

describe("the quota keeper", () => {
  it("never admits more than the shared bucket has granted, whatever the number of processes", () =>
    assert(
      asyncProperty(
        record({ perSecond: integer({ min: 1, max: 500 }), burst: integer({ min: 1, max: 500 }) }),
        array(
          record({
            who: integer({ min: 0, max: 2 }),
            count: integer({ min: 1, max: 60 }),
            pauseMs: integer({ min: 0, max: 2000 }),
          }),
          { maxLength: 40 },
        ),
        async (quota, moves) => {
          const world = createWorld(quota, 3);
          let [admitted, monotonicMs] = [0, 0];
          for (const { who, count, pauseMs } of moves) {
            world.pass(pauseMs);
            monotonicMs += pauseMs;
            const answers = await Promise.all(
              Array.from({ length: count }, () => world.ask(world.keepers[who] as QuotaKeeper)),
            );
            admitted += answers.filter((seconds) => seconds === 0).length;
            expect(admitted).toBeLessThanOrEqual(quota.burst + (quota.perSecond * monotonicMs) / 1000 + 1e-6);
          }
        },
      ),
      { numRuns: 200 },
    ));

  it("admits a client that waits for the time it was given", () =>
    assert(
      asyncProperty(
        record({ perSecond: integer({ min: 1, max: 50 }), burst: integer({ min: 1, max: 50 }) }),
        async (quota) => {
          const world = createWorld(quota);
          const [keeper] = world.keepers as [QuotaKeeper];
          let waitSeconds = 0;
          for (let count = 0; waitSeconds === 0 && count < 1000; count++)
            waitSeconds = await world.ask(keeper);
          expect(waitSeconds).toBeGreaterThan(0);
          expect(world.state(keeper)).toBe(`"read";r=0;t=${waitSeconds}`);
          world.pass(waitSeconds * 1000);
          expect(await world.ask(keeper)).toBe(0);
        },
      ),
    ));

  it("queries the store far less often than once a request", async () => {
    const world = createWorld({ perSecond: 1000, burst: 2000 });
    const [keeper] = world.keepers as [QuotaKeeper];
    for (let count = 0; count < 5000; count++) {
      expect(await world.ask(keeper)).toBe(0);
      world.pass(2);
    }
    expect(keeper.counts.reservations).toBeLessThan(100);
  });

  it("queries an empty bucket ten times a second, regardless of how many requests are refused", async () => {
    const world = createWorld({ perSecond: 10, burst: 1000 });
    const [keeper] = world.keepers as [QuotaKeeper];
    while ((await world.ask(keeper)) === 0);
    const before = keeper.counts.reservations;
    for (let count = 0; count < 1000; count++) {
      await world.ask(keeper);
      world.pass(1);
    }
    expect(keeper.counts.reservations - before).toBeLessThanOrEqual(11);
  });

  it("continues with the same quota while the store is unavailable, retries once a second, and returns to it", async () => {
    const world = createWorld({ perSecond: 1, burst: 20 });
    const [keeper] = world.keepers as [QuotaKeeper];
    await world.ask(keeper);
    world.setUnavailable(true);
    let admitted = 0;
    while ((await world.ask(keeper)) === 0) admitted += 1;
    expect(admitted).toBe(19);
    const before = keeper.counts.reservations;
    for (let count = 0; count < 50; count++) {
      world.pass(100);
      await world.ask(keeper);
    }
    expect(keeper.counts.reservations - before).toBeLessThanOrEqual(5);
    expect(keeper.counts.unanswered).toBeGreaterThan(0);
    world.setUnavailable(false);
    world.pass(2000);
    const unanswered = keeper.counts.unanswered;
    expect(await world.ask(keeper)).toBe(0);
    expect(keeper.counts.unanswered).toBe(unanswered);
  });

  it("returns unused tokens, after a while or at shutdown", async () => {
    const quota = { perSecond: 1, burst: 200 };
    const idle = createWorld(quota);
    await idle.ask(idle.keepers[0] as QuotaKeeper);
    expect(idle.bucket().tokens).toBeLessThan(199);
    for (let count = 0; count < 4; count++) idle.pass(5000);
    expect(Math.round(idle.bucket().tokens)).toBe(200);
    const closed = createWorld(quota);
    await closed.ask(closed.keepers[0] as QuotaKeeper);
    await closed.keepers[0]?.close();
    expect(closed.bucket().tokens).toBe(199);
  });

  it("charges what a request costs, and admits one that costs more than the burst if a token is left", async () => {
    const world = createWorld({ perSecond: 10, burst: 20 });
    const [keeper] = world.keepers as [QuotaKeeper];
    expect(await world.ask(keeper, 50)).toBe(0);
    // 30 tokens in debt: one is left again after 3.1 s.
    expect(await world.ask(keeper)).toBe(4);
    expect(world.state(keeper)).toBe('"read";r=0;t=4');
    world.pass(3000);
    expect(await world.ask(keeper)).toBe(1);
    world.pass(200);
    expect(await world.ask(keeper)).toBe(0);
  });

  it("shares a debt between processes", async () => {
    const world = createWorld({ perSecond: 10, burst: 20 }, 2);
    const [one, other] = world.keepers as [QuotaKeeper, QuotaKeeper];
    expect(await world.ask(one, 40)).toBe(0);
    expect(await world.ask(one)).toBeGreaterThan(0);
    expect(await world.ask(other)).toBe(3);
  });

  it("charges what turns out after the request was admitted", async () => {
    const world = createWorld({ perSecond: 10, burst: 20 });
    const [keeper] = world.keepers as [QuotaKeeper];
    expect(await world.ask(keeper)).toBe(0);
    world.charge(keeper, 100);
    expect(world.state(keeper)).toBe('"read";r=0;t=9');
    expect(await world.ask(keeper)).toBe(9);
    world.pass(8300);
    expect(await world.ask(keeper)).toBe(0);
  });

  it("admits a body unless another one has brought its client into debt", async () => {
    const world = createWorld({ perSecond: 10, burst: 3 });
    const [keeper] = world.keepers as [QuotaKeeper];
    for (let count = 0; count < 3; count++) expect(await world.ask(keeper)).toBe(0);
    expect([1, 2, 3].map(() => world.takeForBody(keeper, 50))).toEqual([0, 6, 6]);
    await world.ask(keeper);
    expect(world.takeForBody(keeper, 50)).toBe(6);
    world.pass(5100);
    expect(world.takeForBody(keeper, 50)).toBe(0);
  });

  it("never admits more cost than the bucket has granted, apart from one request in each process", () =>
    assert(
      asyncProperty(
        record({ perSecond: integer({ min: 1, max: 100 }), burst: integer({ min: 1, max: 100 }) }),
        array(
          record({
            who: integer({ min: 0, max: 1 }),
            cost: integer({ min: 1, max: 150 }),
            pauseMs: integer({ min: 0, max: 2000 }),
          }),
          { maxLength: 40 },
        ),
        async (quota, moves) => {
          const world = createWorld(quota, 2);
          let [spent, passedMs, costMax] = [0, 0, 0];
          for (const { who, cost, pauseMs } of moves) {
            world.pass(pauseMs);
            passedMs += pauseMs;
            costMax = Math.max(costMax, cost);
            if ((await world.ask(world.keepers[who] as QuotaKeeper, cost)) === 0) spent += cost;
            expect(spent).toBeLessThan(quota.burst + (quota.perSecond * passedMs) / 1000 + 2 * costMax);
          }
        },
      ),
      { numRuns: 200 },
    ));

  it("limits all clients of a tenant together, and says so", async () => {
    const world = createWorld({ perSecond: 1, burst: 20 }, 1, 2);
    const [keeper] = world.keepers as [QuotaKeeper];
    const clients = [1, 2, 3].map((number) => ({ ...client, id: `client ${number}` }));
    const admitted = await Promise.all(
      clients.map(async (one) => {
        let count = 0;
        while ((await world.ask(keeper, 1, one)) === 0) count += 1;
        return count;
      }),
    );
    expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(40);
    const last = clients[2] as ApiClient;
    expect(world.state(keeper, last)).toMatch(/^"read";r=\d+;t=\d+, "tenant-read";r=0;t=\d+$/);
    // Another tenant is not affected.
    expect(await world.ask(keeper, 1, { ...client, id: "other", tenantId: "other" })).toBe(0);
  });

  it("lets a client use a quota of its own that is larger than its tenant's", async () => {
    const world = createWorld({ perSecond: 1, burst: 20 }, 1, 2);
    const [keeper] = world.keepers as [QuotaKeeper];
    const large = { ...client, quotas: { read: { perSecond: 1, burst: 100 } } };
    let count = 0;
    while ((await world.ask(keeper, 1, large)) === 0) count += 1;
    expect(count).toBe(100);
  });
});
