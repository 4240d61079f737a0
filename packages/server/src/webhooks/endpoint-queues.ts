import { isServed } from "../app/webhooks/endpoint.js";
import {
  type EndpointKey,
  type EndpointLease,
  endpointName,
  type SendingStore,
} from "../app/webhooks/sending.js";
import { createLeaseKeeper } from "../runtime/loops/lease.js";
import { createEndpointQueue, type EndpointQueue } from "./endpoint-queue.js";
import { longestHeld } from "./longest-held.js";

/** The endpoints that this process sends to, each with its lease and its queue. */
export interface EndpointQueues {
  all: () => Iterable<EndpointQueue>;
  count: () => number;
  find: (key: EndpointKey) => EndpointQueue | undefined;
  /** Whether the lease certainly holds, so that something may be sent. */
  isHeld: (queue: EndpointQueue) => boolean;
  /**
   * Acquires endpoints that no process sends to and that have something due. Tenants that were looked at a moment ago are postponed to a later
   * call, whatever that call asks for. Returns whether a look at any tenant would find more to acquire now.
   */
  acquire: (tenantIds: Iterable<string> | "any") => Promise<boolean>;
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
/**
 * Those that do not answer have a queue too, with little in it. When there is no room for as many as are acquired at once, the tenants with
 * the most queues give back those that they have held longest. So every endpoint has its turn, however many are busy.
 */
const queuesMax = 5000;
/** For how long a queue is not given back: acquiring and releasing a lease are two writes. */
const heldMinMs = 5000;
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
  /** Of endpoints that are failing, and of the others: where the last look at all tenants ended, if it left some out. The next one continues. */
  const acquiredUpTo = new Map<boolean, EndpointKey | undefined>();

  async function renew(): Promise<void> {
    const open = [...queues.values()].filter(({ isClosed }) => !isClosed);
    const held = await leases.renew(open.map(({ lease }) => lease));
    for (const queue of open) {
      const lease = held.get(endpointName(queue.lease));
      // Another process has it, or the endpoint was disabled or deleted.
      if (lease === undefined) queue.close();
      else queue.renew(lease);
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

  /** Returns whether there may be more that could be acquired now. */
  async function acquireSome(
    tenantIds: string[] | "any",
    areFailing: boolean,
    room: number,
  ): Promise<boolean> {
    const limit = Math.min(acquireMax, room);
    if (limit <= 0) return false;
    const after = tenantIds === "any" ? acquiredUpTo.get(areFailing) : undefined;
    const wanted = { tenantIds, areFailing, dueBy: new Date(now()), limit, after };
    const acquired = await leases.acquire(wanted);
    for (const lease of acquired) if (isServed(lease.endpoint)) add(lease);
    // Those that nothing is sent to count: the next look continues behind them.
    const isFull = acquired.length >= limit;
    if (tenantIds === "any") acquiredUpTo.set(areFailing, isFull ? lastOf(acquired) : undefined);
    // The others are acquired when they are looked at again.
    else if (isFull) for (const tenantId of tenantIds) postponed.add(tenantId);
    return isFull ? limit === acquireMax : after !== undefined;
  }

  /** Leaves room for as many as are acquired at once, if enough queues have been held long enough and have nothing under way. */
  async function makeRoom(): Promise<void> {
    const excess = queues.size - (queuesMax - acquireMax);
    if (excess <= 0) return;
    const heldByMs = monotonicMs() - heldMinMs;
    const given = longestHeld(
      [...queues.values()],
      (queue) => queue.heldSinceMs <= heldByMs && queue.hasNothingUnderWay(),
      excess,
    );
    for (const queue of given) queue.close();
    await release(given);
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
    queue.heldSinceMs = monotonicMs();
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
      if (tenantIds.length === 0) return false;
      const hasMore = await acquireSome(tenantIds, false, queuesMax - queues.size);
      // No event makes an endpoint that is failing urgent.
      if (tenantIds !== "any") return false;
      const roomForFailing = Math.min(failingMax - listFailing().length, queuesMax - queues.size);
      return (await acquireSome(tenantIds, true, roomForFailing)) || hasMore;
    },
    maintain: async (isUrgent) => {
      if (isUrgent || leases.isRenewalDue()) await renew();
      const unused = [...queues.values()].filter(isUnused);
      await release(unused.filter(({ isStopped }) => !isStopped));
      await release(
        unused.filter(({ isStopped }) => isStopped),
        leaseMs,
      );
      await releaseFailing();
      await makeRoom();
    },
    releaseAll: () => release([...queues.values()]),
    reset: () => {
      for (const queue of queues.values()) queue.close();
      lookedMs.clear();
      postponed.clear();
      acquiredUpTo.clear();
    },
  };
}

/** The last in the order in which they are acquired. */
function lastOf(acquired: readonly EndpointLease[]): EndpointKey | undefined {
  let last: EndpointKey | undefined;
  for (const { tenantId, endpointId } of acquired) {
    const key = { tenantId, endpointId };
    if (last === undefined || endpointName(key) > endpointName(last)) last = key;
  }
  return last;
}
