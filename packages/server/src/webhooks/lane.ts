import { afterFailure, allowedRequests, closedBreaker } from "@bursar/domain";
import type { Attempted } from "../app/webhooks/attempt-delivery.js";
import type { EventText } from "../app/webhooks/event-texts.js";
import type { DueDelivery, DueWish, HealthChange, Lease } from "../app/webhooks/sending.js";

/** A delivery that is ready to be sent. */
export interface Job {
  due: DueDelivery;
  text: EventText;
}

/**
 * One endpoint's own queue, concurrency and circuit breaker, for as long as this process holds its lease. Whatever goes wrong
 * there stays in its lane.
 */
export interface Lane {
  lease: Lease;
  /** Until when the lease is ours for certain, by a clock that nobody can set back. */
  heldUntilMs: number;
  /** Whether the store may have something due that is not here yet. */
  mayHaveMore: boolean;
  /** Nothing is sent any more; what is under way is still reported. */
  isClosed: boolean;
  lastActiveMs: number;
  isIdle: () => boolean;
  wantsMore: () => boolean;
  wish: (max: number) => DueWish;
  /** Whether what was found for the last wish is new here. */
  isNew: (deliveryId: string) => boolean;
  /** Takes what was found for the last wish: the new ones with what they say, and all that there were. */
  offer: (jobs: readonly Job[], found: readonly DueDelivery[]) => void;
  /** The next delivery that may be sent now; it counts as under way from then on. */
  take: (nowMs: number) => Job | undefined;
  /** Says what came of a delivery; gives what that changes about the endpoint's health. */
  finish: (job: Job, verdict: Attempted["verdict"], nowMs: number) => HealthChange | undefined;
  /** For how long nothing has arrived there. */
  failingForMs: (nowMs: number) => number;
  /** What came of it is written down. */
  forget: (deliveryId: string) => void;
  close: () => void;
}

export function createLane(lease: Lease, concurrency: number, heldUntilMs: number): Lane {
  const { tenantId, endpointId } = lease;
  const subjectsUnderWay = new Set<string>();
  /** Waiting here, under way, or not written down yet. */
  const known = new Set<string>();
  let knownAtWish: ReadonlySet<string> = new Set();
  let lastMax = 0;
  let ready: Job[] = [];
  let underWay = 0;
  let afterSequence = 0n;
  /** The first of those that were put back: from there on the next wish reads again. */
  let rereadFrom: bigint | undefined;
  let breaker = closedBreaker;
  let failingSince = lease.endpoint.failingSince;

  /** Attempts for one subject go out in its order: a first one waits for the answer to the first one before it, good or bad. */
  const isOrdered = ({ due }: Job) => due.attempts === 0;
  const mayGo = (job: Job) => !isOrdered(job) || !subjectsUnderWay.has(job.text.subjectId);

  /** Leaves to the queue what will not be sent soon, but for some to try the endpoint with: of both kinds, so that none waits for ever. */
  function putBack(): void {
    const kept = [
      ...ready.filter(isOrdered).slice(0, 1),
      ...ready.filter((job) => !isOrdered(job)).slice(0, 1),
    ];
    const dropped = ready.filter((job) => !kept.includes(job));
    if (dropped.length === 0) return;
    ready = kept.reverse();
    for (const { due } of dropped) {
      known.delete(due.id);
      if (due.isFirst && (rereadFrom === undefined || due.sequence < rereadFrom)) rereadFrom = due.sequence;
    }
    lane.mayHaveMore = true;
  }

  const lane: Lane = {
    lease,
    heldUntilMs,
    mayHaveMore: true,
    isClosed: false,
    lastActiveMs: 0,
    isIdle: () => known.size === 0,
    // While half of the last fill is still here, so that there is something to send while the next one is fetched.
    // One that does not answer needs no more than what it is tried with.
    wantsMore: () =>
      !lane.isClosed &&
      lane.mayHaveMore &&
      ready.length <= (breaker.openings > 0 ? 0 : Math.max(concurrency, lastMax / 2)),
    wish: (max) => {
      // What is known when the question is asked is still in the queue for whoever answers it, also where it is written down,
      // and forgotten here, before the answer has come.
      knownAtWish = new Set(known);
      lastMax = max;
      if (rereadFrom !== undefined && rereadFrom <= afterSequence) afterSequence = rereadFrom - 1n;
      rereadFrom = undefined;
      // Those that are known stand in the queue until they are written down.
      const furtherAttemptsMax = max + known.size;
      return { tenantId, endpointId, afterSequence, firstAttemptsMax: max, furtherAttemptsMax };
    },
    isNew: (deliveryId) => !knownAtWish.has(deliveryId),
    offer: (jobs, found) => {
      for (const { due } of jobs) known.add(due.id);
      ready.push(...jobs);
      let first = 0;
      for (const { isFirst, sequence } of found) {
        if (!isFirst) continue;
        first += 1;
        // Also past one that has nothing to say: it must not be found again and again.
        if (sequence > afterSequence) afterSequence = sequence;
      }
      const isFull = first >= lastMax || found.length - first >= lastMax + knownAtWish.size;
      if (isFull) lane.mayHaveMore = true;
    },
    take: (nowMs) => {
      if (lane.isClosed || underWay >= allowedRequests(breaker, nowMs, concurrency)) return undefined;
      const index = ready.findIndex(mayGo);
      const [job] = index === -1 ? [] : ready.splice(index, 1);
      if (job === undefined) return undefined;
      underWay += 1;
      if (isOrdered(job)) subjectsUnderWay.add(job.text.subjectId);
      return job;
    },
    finish: (job, verdict, nowMs) => {
      underWay -= 1;
      lane.lastActiveMs = nowMs;
      if (isOrdered(job)) subjectsUnderWay.delete(job.text.subjectId);
      const { openings } = breaker;
      breaker = verdict === "delivered" ? closedBreaker : afterFailure(breaker, nowMs);
      if (breaker.openings > openings) putBack();
      const isFailing = verdict !== "delivered";
      if (isFailing === (failingSince !== null)) return undefined;
      failingSince = isFailing ? new Date(nowMs) : null;
      return { tenantId, endpointId, failingSince };
    },
    failingForMs: (nowMs) => (failingSince === null ? 0 : nowMs - failingSince.getTime()),
    forget: (deliveryId) => known.delete(deliveryId),
    close: () => {
      lane.isClosed = true;
      for (const { due } of ready) known.delete(due.id);
      ready = [];
    },
  };
  return lane;
}
