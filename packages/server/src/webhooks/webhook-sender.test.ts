import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import type { Attempted } from "../app/webhooks/attempt-delivery.js";
import type { DueDelivery, DueRequest, EndpointLease, SendingStore } from "../app/webhooks/sending.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import { createWebhookSender, type WebhookSenderDeps } from "./webhook-sender.js";

const endpointCount = 500;
const underWayPerTenantMax = 64;
const deadCount = 5000;
const underWayFailingMax = 500;

/** Everything is always due: as many first attempts as are asked for. */
function createEndlessStore(endpoints: () => readonly EndpointLease[]): SendingStore {
  const held = new Set<EndpointLease>();
  return {
    leases: {
      acquire: async ({ limit, areFailing, tenantIds }) => {
        const free = endpoints().filter(
          (lease) =>
            !held.has(lease) &&
            (lease.endpoint.failingSince !== null) === areFailing &&
            (tenantIds === "any" || tenantIds.includes(lease.tenantId)),
        );
        for (const lease of free.slice(0, limit)) held.add(lease);
        return free.slice(0, limit);
      },
      renew: async (leases) => endpoints().filter((lease) => leases.includes(lease)),
      release: async (leases) => {
        for (const lease of leases) held.delete(lease);
      },
    },
    readDue: async (wanted) =>
      wanted.flatMap(({ tenantId, endpointId, afterSequence, firstAttemptsMax }) =>
        Array.from({ length: firstAttemptsMax }, (_, number): DueDelivery => {
          const sequence = afterSequence + number + 1;
          return {
            tenantId,
            endpointId,
            id: randomUUID(),
            sequence,
            attempts: 0,
            isFirst: true,
          };
        }),
      ),
    recordResults: async () => undefined,
    recordFailure: async () => undefined,
  };
}

const leaseOf = (tenantId: string, endpointId: string, failingSince: Date | null = null) =>
  ({
    tenantId,
    endpointId,
    holder: "holder",
    fence: "1",
    endpoint: { tenantId, failingSince },
  }) as EndpointLease;

const delivered = { attempt: {}, verdict: "delivered", next: { state: "delivered" } } as Attempted;

/** A sender to these endpoints. All of them hang, except that of the tenant `other`. */
function sendTo(
  leases: readonly EndpointLease[],
  change: (store: SendingStore) => Partial<SendingStore> = () => ({}),
  changed: Partial<WebhookSenderDeps> = {},
) {
  const underWay: (() => void)[] = [];
  let isServed: () => void = () => undefined;
  const served = new Promise<void>((resolve) => {
    isServed = resolve;
  });
  const store = createEndlessStore(() => leases);
  const sender = createWebhookSender({
    store: { ...store, ...change(store) },
    renderEvents: async (due) =>
      due.map(({ id }) => ({ kind: "transaction.updated" as const, subjectId: id, before: "", after: "" })),
    attempt: async ({ tenantId }) => {
      if (tenantId === "other") isServed();
      else await new Promise<void>((resolve) => underWay.push(resolve));
      return delivered;
    },
    onAttempt: () => undefined,
    restPerWork: () => 0,
    disableEndpoint: async () => undefined,
    concurrency: 4,
    holder: "holder",
    onError: (error) => {
      throw error;
    },
    onDeliveryFailed: (_delivery, error) => {
      throw error;
    },
    isUnavailable: () => false,
    now: Date.now,
    monotonicMs: () => performance.now(),
    lookEveryMs: 10,
    timers: nodeTimers,
    ...changed,
  });
  const stop = async () => {
    const stopped = sender.stop();
    for (const end of underWay) end();
    await stopped;
  };
  return { sender, underWay, served, stop };
}

const untilUnderWay = async (underWay: readonly unknown[], count: number) => {
  while (underWay.length < count) await new Promise((resolve) => setTimeout(resolve, 5));
};

it("serves the other tenants while one has many endpoints that take all the time they may", async () => {
  const leases = Array.from({ length: endpointCount }, (_, number) => leaseOf("slow", `s${number}`));
  const { sender, underWay, served, stop } = sendTo(leases);
  sender.start();
  await untilUnderWay(underWay, underWayPerTenantMax);
  leases.push(leaseOf("other", "o"));
  sender.wake(["other"]);
  await served;
  expect(underWay.length).toBe(underWayPerTenantMax);
  await stop();
});

it("serves a healthy endpoint at once while 5,000 dead ones of as many tenants have a backlog", async () => {
  const since = new Date(0);
  const leases = Array.from({ length: deadCount }, (_, number) => leaseOf(`t${number}`, `d${number}`, since));
  const { sender, underWay, served, stop } = sendTo(leases);
  sender.start();
  await untilUnderWay(underWay, underWayFailingMax);
  leases.push(leaseOf("other", "o"));
  sender.wake(["other"]);
  await served;
  expect(underWay.length).toBe(underWayFailingMax);
  await stop();
});

it("reads a bounded number of deliveries at a time, and in the end for every endpoint", async () => {
  const leases = Array.from({ length: 3000 }, (_, number) => leaseOf(`t${number % 1000}`, `e${number}`));
  const reads: DueRequest[][] = [];
  const readFor = new Set<string>();
  const { sender, stop } = sendTo(leases, ({ readDue }) => ({
    readDue: (wanted, now) => {
      reads.push([...wanted]);
      for (const { endpointId } of wanted) readFor.add(endpointId);
      return readDue(wanted, now);
    },
  }));
  sender.start();
  while (readFor.size < leases.length) await new Promise((resolve) => setTimeout(resolve, 5));
  await stop();
  const counts = reads.map((wanted) => wanted.reduce((sum, one) => sum + one.firstAttemptsMax, 0));
  expect(Math.max(...counts)).toBeLessThanOrEqual(1024);
});

it("reads for fewer and fewer endpoints at a time while that fails", async () => {
  const leases = Array.from({ length: 400 }, (_, number) => leaseOf(`t${number}`, `e${number}`));
  leases.push(leaseOf("other", "o"));
  const counts: number[] = [];
  const failures: unknown[] = [];
  const { sender, served, stop } = sendTo(
    leases,
    ({ readDue }) => ({
      readDue: async (wanted, now) => {
        counts.push(wanted.length);
        if (wanted.length > 20) throw new Error("this takes too long");
        return await readDue(wanted, now);
      },
    }),
    {
      onError: (error) => void failures.push(error),
      // Without the pause after each error.
      timers: { ...nodeTimers, after: (ms, work) => nodeTimers.after(Math.min(ms, 2), work) },
    },
  );
  sender.start();
  await served;
  await stop();
  expect(counts.slice(0, 4)).toEqual([128, 64, 32, 16]);
  expect(failures.length).toBeGreaterThanOrEqual(3);
});

it("begins a few attempts in each turn of the event loop, tenants in turn, and charges each of them", async () => {
  const leases = ["many", "few"].flatMap((tenantId) =>
    Array.from({ length: tenantId === "many" ? 50 : 1 }, (_, number) => leaseOf(tenantId, `e${number}`)),
  );
  const begun: { tenantId: string; turn: number }[] = [];
  const charged: string[] = [];
  let [turn, isOver] = [0, false];
  const countTurns = () => {
    turn += 1;
    if (!isOver) setImmediate(countTurns);
  };
  countTurns();
  const { sender, stop } = sendTo(leases, () => ({}), {
    attempt: async ({ tenantId }) => {
      begun.push({ tenantId, turn });
      return delivered;
    },
    onAttempt: (tenantId) => charged.push(tenantId),
  });
  sender.start();
  await untilUnderWay(begun, 3000);
  await stop();
  isOver = true;
  const turnsOf = (tenantId: string) =>
    begun.filter((one) => one.tenantId === tenantId).map((one) => one.turn);
  for (const tenantId of ["many", "few"])
    expect(new Set(turnsOf(tenantId)).size).toBe(turnsOf(tenantId).length);
  // Not 50 times as many.
  expect(turnsOf("many").length).toBeLessThan(3 * turnsOf("few").length);
  expect(charged).toEqual(begun.map(({ tenantId }) => tenantId));
});

it("begins no attempt whose turn comes after it was stopped", async () => {
  const leases = Array.from({ length: 50 }, (_, number) => leaseOf("greedy", `${number}`));
  let begun = 0;
  let hasBegun: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    hasBegun = resolve;
  });
  const attempt = async () => {
    begun += 1;
    hasBegun();
    return delivered;
  };
  const { sender, stop } = sendTo(leases, undefined, { attempt });
  sender.start();
  await first;
  const stopped = stop();
  const before = begun;
  await stopped;
  expect(begun).toBe(before);
});
