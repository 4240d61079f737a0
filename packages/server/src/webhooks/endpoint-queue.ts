import { afterFailure, allowedRequests, closedBreaker, probingBreaker } from "@bursar/domain";
import type { Attempted } from "../app/webhooks/attempt-delivery.js";
import type { RenderedEvent } from "../app/webhooks/render-events.js";
import type { DueDelivery, DueRequest, EndpointLease, HealthChange } from "../app/webhooks/sending.js";

/** A delivery that is ready to be sent. */
export interface Job {
  due: DueDelivery;
  event: RenderedEvent;
}

/**
 * One endpoint's own queue, concurrency and circuit breaker, for as long as this process holds its lease. Whatever goes wrong with an
 * endpoint affects no other.
 */
export interface EndpointQueue {
  lease: EndpointLease;
  /** Whether the store may have something due that is not here yet. */
  mayHaveMore: boolean;
  /** Nothing more is sent; what is under way is still reported. */
  isClosed: boolean;
  /** Whether it was closed because its client is disabled, as this process knows it: for the length of a lease nobody looks again. */
  isStopped: boolean;
  lastActiveMs: number;
  /** When its lease was acquired, by the monotonic clock. */
  heldSinceMs: number;
  /** The number of the last fill that it was part of; 0 if it was in none. */
  lastFill: number;
  isIdle: () => boolean;
  /** Nothing is under way or waits to be recorded; there may be deliveries to be sent. */
  hasNothingUnderWay: () => boolean;
  wantsMore: () => boolean;
  /** What to ask the store for. */
  request: (max: number) => DueRequest;
  /** Whether a delivery that was found for the last request is new here. */
  isNew: (deliveryId: string) => boolean;
  /** Adds what was found for the last request: the new ones as jobs, and everything that was found. */
  add: (jobs: readonly Job[], found: readonly DueDelivery[]) => void;
  /** The next delivery that may be sent now; it counts as under way from then on. */
  take: (nowMs: number) => Job | undefined;
  /** Reports the outcome of an attempt; returns what it changes about the endpoint's health. */
  finish: (job: Job, verdict: Attempted["verdict"], nowMs: number) => HealthChange | undefined;
  /**
   * Reports that there was no attempt, by a fault of the service. The endpoint's health stays as it is, but its breaker counts the fault: one
   * that every delivery has, such as a secret that cannot be opened, would otherwise be found and recorded a thousand times a second.
   */
  abandon: (job: Job, nowMs: number) => void;
  /** Whether the last attempt has failed, as far as is known. */
  isFailing: () => boolean;
  /** How long nothing is sent because too many attempts have failed. */
  pausedForMs: (nowMs: number) => number;
  /** How long no delivery has succeeded. */
  failingForMs: (nowMs: number) => number;
  /** The outcome has been recorded. */
  forget: (deliveryId: string) => void;
  /** Reports that nothing was sent because its turn came too late. The next holder of the lease starts over. */
  giveUp: (job: Job) => void;
  /** Reports that nothing was sent because the client of the endpoint is disabled. The delivery stays as it is, and nothing more is sent. */
  stop: (job: Job) => void;
  /** The lease after a renewal. If the endpoint was enabled meanwhile, or has answered a test, the pause after its failures ends. */
  renew: (lease: EndpointLease) => void;
  close: () => void;
}

export function createEndpointQueue(lease: EndpointLease, concurrency: number): EndpointQueue {
  const { tenantId, endpointId } = lease;
  const subjectsUnderWay = new Set<string>();
  /** Waiting here, under way, or not recorded yet. */
  const known = new Set<string>();
  let knownAtRequest: ReadonlySet<string> = new Set();
  let lastMax = 0;
  let ready: Job[] = [];
  let underWay = 0;
  let afterSequence = 0;
  /** The first of those that were returned to the store: from there on the next request reads again. */
  let rereadFrom: number | undefined;
  let failingSince = lease.endpoint.failingSince;
  let breaker = failingSince === null ? closedBreaker : probingBreaker;

  /** First attempts for one subject are sent in order: each waits for the outcome of the one before it, good or bad. */
  const isOrdered = ({ due }: Job) => due.attempts === 0;
  const isSendable = (job: Job) => !isOrdered(job) || !subjectsUnderWay.has(job.event.subjectId);

  function leave(job: Job): void {
    underWay -= 1;
    if (isOrdered(job)) subjectsUnderWay.delete(job.event.subjectId);
  }

  function endAttempt(job: Job, isSuccess: boolean, nowMs: number): void {
    leave(job);
    const { openings } = breaker;
    breaker = isSuccess ? closedBreaker : afterFailure(breaker, nowMs);
    if (breaker.openings > openings) returnToStore();
  }

  /** Returns to the store what will not be sent soon, but keeps one of each kind to try the endpoint with, so that neither starves. */
  function returnToStore(): void {
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
    queue.mayHaveMore = true;
  }

  const queue: EndpointQueue = {
    lease,
    mayHaveMore: true,
    isClosed: false,
    isStopped: false,
    lastActiveMs: 0,
    heldSinceMs: 0,
    lastFill: 0,
    isIdle: () => known.size === 0,
    hasNothingUnderWay: () => known.size === ready.length,
    // While half of the last fill is still here, so that there is something to send while the next one is fetched.
    // An endpoint that does not answer needs no more than what it is tried with.
    wantsMore: () =>
      !queue.isClosed &&
      queue.mayHaveMore &&
      ready.length <= (breaker.openings > 0 ? 0 : Math.max(concurrency, lastMax / 2)),
    request: (max) => {
      // What is known when the store is asked may be in its answer even if it is recorded, and forgotten here, before the answer arrives.
      knownAtRequest = new Set(known);
      lastMax = max;
      if (rereadFrom !== undefined && rereadFrom <= afterSequence) afterSequence = rereadFrom - 1;
      rereadFrom = undefined;
      // Those that are known stay in the store until they are recorded.
      const furtherAttemptsMax = max + known.size;
      return { tenantId, endpointId, afterSequence, firstAttemptsMax: max, furtherAttemptsMax };
    },
    isNew: (deliveryId) => !knownAtRequest.has(deliveryId),
    add: (jobs, found) => {
      // Closed while they were read.
      if (queue.isClosed) return;
      for (const { due } of jobs) known.add(due.id);
      ready.push(...jobs);
      let first = 0;
      for (const { isFirst, sequence } of found) {
        if (!isFirst) continue;
        first += 1;
        // Also past one that has failed and is due later: it is no first attempt any more.
        if (sequence > afterSequence) afterSequence = sequence;
      }
      const isFull = first >= lastMax || found.length - first >= lastMax + knownAtRequest.size;
      if (isFull) queue.mayHaveMore = true;
    },
    take: (nowMs) => {
      if (queue.isClosed || underWay >= allowedRequests(breaker, nowMs, concurrency)) return undefined;
      const index = ready.findIndex(isSendable);
      const [job] = index === -1 ? [] : ready.splice(index, 1);
      if (job === undefined) return undefined;
      underWay += 1;
      if (isOrdered(job)) subjectsUnderWay.add(job.event.subjectId);
      return job;
    },
    finish: (job, verdict, nowMs) => {
      // Nothing was sent, so it says nothing about the receiver.
      if (verdict === "withheld") {
        leave(job);
        return undefined;
      }
      endAttempt(job, verdict === "delivered", nowMs);
      queue.lastActiveMs = nowMs;
      const isFailing = verdict !== "delivered";
      if (isFailing === (failingSince !== null)) return undefined;
      failingSince = isFailing ? new Date(nowMs) : null;
      return { tenantId, endpointId, failingSince };
    },
    abandon: (job, nowMs) => endAttempt(job, false, nowMs),
    isFailing: () => failingSince !== null || breaker.failures > 0,
    pausedForMs: (nowMs) => Math.max(0, breaker.openUntilMs - nowMs),
    failingForMs: (nowMs) => (failingSince === null ? 0 : nowMs - failingSince.getTime()),
    forget: (deliveryId) => known.delete(deliveryId),
    giveUp: (job) => {
      leave(job);
      known.delete(job.due.id);
      queue.close();
    },
    stop: (job) => {
      queue.isStopped = true;
      queue.giveUp(job);
    },
    renew: (renewed) => {
      const { version } = queue.lease.endpoint;
      queue.lease = renewed;
      // Who changes an endpoint raises its version; the sender itself, when it records its health, does not.
      if (renewed.endpoint.version === version || renewed.endpoint.failingSince !== null) return;
      failingSince = null;
      breaker = closedBreaker;
      queue.mayHaveMore = true;
    },
    close: () => {
      queue.isClosed = true;
      for (const { due } of ready) known.delete(due.id);
      ready = [];
    },
  };
  return queue;
}
