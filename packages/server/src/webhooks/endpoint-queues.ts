import { type EndpointLease, endpointName, type SendingStore } from "../app/webhooks/sending.js";
import { createLeaseKeeper } from "../runtime/lease.js";
import { createEndpointQueue, type EndpointQueue } from "./endpoint-queue.js";

/** The endpoints that this process sends to, each with its lease and its queue. */
export interface EndpointQueues {
  all: () => Iterable<EndpointQueue>;
  count: () => number;
  find: (key: { tenantId: string; endpointId: string }) => EndpointQueue | undefined;
  /** Whether the lease certainly holds, so that something may be sent. */
  isHeld: (queue: EndpointQueue) => boolean;
  /**
   * Acquires endpoints that no process sends to and that have something due. Tenants that were looked at a moment ago are postponed to a later
   * call, whatever that call asks for.
   */
  acquire: (tenantIds: Iterable<string> | "any") => Promise<void>;
  hasPostponed: () => boolean;
  /** Renews what is held and reads its endpoints again; drops what was lost, and releases what has been idle. */
  maintain: (isUrgent: boolean) => Promise<void>;
  releaseAll: () => Promise<void>;
  /** Drops every queue, because the database may have gone back to an earlier state. What is under way is still reported. */
  reset: () => void;
}

export interface EndpointQueuesDeps {
  store: Pick<SendingStore, "leases">;
  /** Names this process among those that send. */
  holder: string;
  concurrency: number;
  now: () => number;
  monotonicMs: () => number;
}

/** How long endpoints wait when the process that sent to them dies. */
const leaseMs = 10_000;
const renewEveryMs = 3000;
/** An endpoint that was busy a moment ago is likely to be so again; acquiring and releasing its lease each time is two writes. */
const lingerMs = 5000;
/**
 * A busy tenant's endpoints are nearly always held already, and each look is a statement: one in four of those that a delivery takes
 * when little is sent at a time.
 */
export const lookAgainAfterMs = 50;
/** Those that do not answer have a queue too, with little in it. */
const queuesMax = 5000;
/**
 * How many of these may be of endpoints that are failing. When there are more, those that pause are released for as long as they would
 * pause, and others have their turn: so endpoints that fail, however many there are, keep none out that do not.
 */
const failingMax = 1000;
const acquireMax = 500;

export function createEndpointQueues({
  store,
  holder,
  concurrency,
  now,
  monotonicMs,
}: EndpointQueuesDeps): EndpointQueues {
  const leases = createLeaseKeeper({
    store: store.leases,
    holder,
    leaseMs,
    renewEveryMs,
    nameOf: endpointName,
    monotonicMs,
  });
  const queues = new Map<string, EndpointQueue>();
  /** When each tenant was looked at, since all of them were. */
  const lookedMs = new Map<string, number>();
  const postponed = new Set<string>();

  async function renew(): Promise<void> {
    const open = [...queues.values()].filter(({ isClosed }) => !isClosed);
    const held = await leases.renew(open.map(({ lease }) => lease));
    for (const queue of open) {
      const lease = held.get(endpointName(queue.lease));
      // Another process has it, or the endpoint was disabled or deleted.
      if (lease === undefined) queue.close();
      else queue.lease = lease;
    }
  }

  async function release(given: readonly EndpointQueue[], restMs = 0): Promise<void> {
    for (const { lease } of given) queues.delete(endpointName(lease));
    await leases.release(
      given.map(({ lease }) => lease),
      restMs,
    );
  }

  const listFailing = () => [...queues.values()].filter((queue) => queue.isFailing());

  /** Releases endpoints that pause, if too many are failing. They rest for as long as the first of them would pause. */
  async function releaseFailing(): Promise<void> {
    const failing = listFailing();
    const paused = failing
      .filter((queue) => queue.hasNothingUnderWay() && queue.pausedForMs(now()) > 0)
      .slice(0, Math.max(0, failing.length - failingMax));
    if (paused.length === 0) return;
    for (const queue of paused) queue.close();
    await release(paused, Math.min(...paused.map((queue) => queue.pausedForMs(now()))));
  }

  async function acquireSome(tenantIds: string[] | "any", areFailing: boolean, limit: number): Promise<void> {
    if (limit <= 0) return;
    const wanted = { tenantIds, areFailing, dueBy: new Date(now()), limit };
    for (const lease of await leases.acquire(wanted)) add(lease);
  }

  /** The tenants that may be looked at now; the others are postponed. */
  function choose(wanted: Iterable<string> | "any"): string[] | "any" {
    if (wanted === "any") {
      lookedMs.clear();
      postponed.clear();
      return "any";
    }
    const asked = new Set([...postponed, ...wanted]);
    postponed.clear();
    const atMs = monotonicMs();
    return [...asked].filter((tenantId) => {
      const isNow = atMs - (lookedMs.get(tenantId) ?? Number.NEGATIVE_INFINITY) >= lookAgainAfterMs;
      if (isNow) lookedMs.set(tenantId, atMs);
      else postponed.add(tenantId);
      return isNow;
    });
  }

  const isUnused = (queue: EndpointQueue) =>
    queue.isIdle() && (queue.isClosed || (!queue.mayHaveMore && now() - queue.lastActiveMs >= lingerMs));

  function add(lease: EndpointLease): void {
    const queue = createEndpointQueue(lease, concurrency);
    queue.lastActiveMs = now();
    queues.set(endpointName(lease), queue);
  }

  return {
    all: () => queues.values(),
    count: () => queues.size,
    find: (key) => queues.get(endpointName(key)),
    isHeld: ({ lease }) => leases.isHeld(lease),
    hasPostponed: () => postponed.size > 0,
    acquire: async (wanted) => {
      const tenantIds = choose(wanted);
      if (tenantIds.length === 0) return;
      await acquireSome(tenantIds, false, Math.min(acquireMax, queuesMax - queues.size));
      // No event makes an endpoint that is failing urgent.
      if (tenantIds !== "any") return;
      const roomForFailing = Math.min(failingMax - listFailing().length, queuesMax - queues.size);
      await acquireSome(tenantIds, true, Math.min(acquireMax, roomForFailing));
    },
    maintain: async (isUrgent) => {
      if (isUrgent || leases.isRenewalDue()) await renew();
      await release([...queues.values()].filter(isUnused));
      await releaseFailing();
    },
    releaseAll: () => release([...queues.values()]),
    reset: () => {
      for (const queue of queues.values()) queue.close();
      lookedMs.clear();
      postponed.clear();
    },
  };
}
