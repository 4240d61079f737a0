import type { AttemptEvent } from "../app/webhooks/authorize-delivery.js";
import type { DisabledReason } from "../app/webhooks/endpoint.js";
import { bodyOf, type RenderEvents } from "../app/webhooks/render-events.js";
import type { DueDelivery, SendingStore } from "../app/webhooks/sending.js";
import { createYieldingTurns } from "../runtime/concurrency/yielding-turns.js";
import type { Timers } from "../runtime/loops/timers.js";
import { createWakingLoop } from "../runtime/loops/waking-loop.js";
import type { EndpointQueue, Job } from "./endpoint-queue.js";
import { createEndpointQueues, lookAgainAfterMs } from "./endpoint-queues.js";
import { createQueueFiller } from "./queue-filler.js";
import { createResultRecorder } from "./result-recorder.js";

/**
 * Sends what is due to the endpoints that this process holds, each with a queue of its own. At least once: a delivery is done when its
 * outcome is recorded, and a process that dies before that leaves it to the next holder. Nothing is sent inside an SQL transaction.
 */
export interface WebhookSender {
  start: () => void;
  /** Something may be due at the endpoints of these tenants. */
  wake: (tenantIds: readonly string[] | "any") => void;
  /** An endpoint may have changed. */
  refresh: (tenantIds: readonly string[] | "any") => void;
  /** Starts over with what the database has, because it may have gone back to an earlier state. */
  reset: () => void;
  /** Waits a while for what is under way, and releases the leases. */
  stop: () => Promise<void>;
}

export interface WebhookSenderDeps {
  store: SendingStore;
  renderEvents: RenderEvents;
  attempt: AttemptEvent;
  /** Called for every attempt that begins: it costs the process about as much as a request that this tenant makes. */
  onAttempt: (tenantId: string) => void;
  /** How long to rest before more is sent for this tenant, as a multiple of the work; 0 if no other tenant needs the time. */
  restPerWork: (tenantId: string) => number;
  disableEndpoint: (tenantId: string, endpointId: string, reason: DisabledReason) => Promise<void>;
  /** How many requests to one endpoint may be under way at once. */
  concurrency: number;
  holder: string;
  onError: (error: unknown) => void;
  /** Called for a delivery that the service itself could not send or record. */
  onDeliveryFailed: (delivery: { tenantId: string; id: string }, error: unknown) => void;
  /** Whether an error means that the database is unavailable or timed out. */
  isUnavailable: (error: unknown) => boolean;
  now: () => number;
  monotonicMs: () => number;
  /** How often to look without being woken: retries, and wake-ups that were lost, are found this way. */
  lookEveryMs: number;
  timers: Pick<Timers, "after" | "soon">;
}

const underWayMax = 2000;
/**
 * The bound for one tenant, whatever the number of its endpoints: 16 busy ones. Their receivers can answer all of them at once, and then a
 * turn of the event loop takes a part of a millisecond for each.
 */
const underWayPerTenantMax = 64;
/** The bound for endpoints that are failing: what they keep waiting for must not take all of it. */
const underWayFailingMax = 500;
const pauseAfterErrorMs = 500;
const stopGraceMs = 2500;
/** An endpoint with no success for this long is disabled. */
const failingMaxMs = 5 * 86_400_000;

export function createWebhookSender(deps: WebhookSenderDeps): WebhookSender {
  const { store, now, monotonicMs, onError } = deps;
  const queues = createEndpointQueues(deps);
  const recorder = createResultRecorder(deps);
  const turns = createYieldingTurns(underWayMax, {
    restPerWork: (tenantId) => (loop.isStopping() ? 0 : deps.restPerWork(tenantId)),
    monotonicMs,
    timers: deps.timers,
  });
  const filler = createQueueFiller({ ...deps, find: queues.find, recordFailure, startOver });
  let underWay = 0;
  let underWayFailing = 0;
  const underWayOf = new Map<string, number>();
  let rotation: Iterator<EndpointQueue> = queues.all()[Symbol.iterator]();
  let onNoneUnderWay: (() => void) | undefined;
  /** The tenants that something may be due for. */
  let woken: Set<string> | "any" = "any";
  let isRefreshWanted = false;
  let lookedMs = Number.NEGATIVE_INFINITY;
  const loop = createWakingLoop({
    step: async () => {
      await step();
      return { pauseMs: queues.hasPostponed() ? lookAgainAfterMs : deps.lookEveryMs };
    },
    onError,
    pauseAfterErrorMs,
    timers: deps.timers,
  });

  async function step(): Promise<void> {
    const isRefresh = isRefreshWanted;
    isRefreshWanted = false;
    await queues.maintain(isRefresh);
    if (monotonicMs() - lookedMs >= deps.lookEveryMs) woken = "any";
    const wanted = woken;
    woken = new Set();
    if (wanted === "any") lookedMs = monotonicMs();
    if (wanted === "any" || wanted.size > 0)
      for (const queue of queues.all())
        if (wanted === "any" || wanted.has(queue.lease.tenantId)) queue.mayHaveMore = true;
    // The endpoints that are held are served even if no others can be acquired, and what is here is sent even if no more can be read.
    const failures: unknown[] = [];
    const note = (error: unknown) => {
      failures.push(error);
      return false;
    };
    const hasMoreEndpoints = await queues.acquire(wanted).catch(note);
    const hasMoreDeliveries = recorder.hasRoom() && (await filler.fill(queues.all()).catch(note));
    for (const queue of queues.all()) pump(queue);
    if (failures.length > 0) throw failures[0];
    if (hasMoreEndpoints) woken = "any";
    if (hasMoreEndpoints || hasMoreDeliveries) loop.wake();
  }

  /** A fault of the service, not of the receiver: no attempt is counted, and the delivery is tried again later. */
  async function recordFailure(due: DueDelivery, error: unknown): Promise<void> {
    deps.onDeliveryFailed(due, error);
    await store.recordFailure(due, error, new Date(now()));
  }

  /** A delivery whose failure cannot be recorded is still due, but its queue has read past it: the next holder of the lease starts over. */
  function startOver(queue: EndpointQueue, error: unknown): void {
    onError(error);
    queue.close();
  }

  function pump(queue: EndpointQueue): void {
    while (pumpOne(queue));
  }

  function pumpOne(queue: EndpointQueue): boolean {
    const { tenantId } = queue.lease;
    const ofTenant = underWayOf.get(tenantId) ?? 0;
    if (loop.isStopping() || underWay >= underWayMax || ofTenant >= underWayPerTenantMax) return false;
    const isFailing = queue.isFailing();
    if (isFailing && underWayFailing >= underWayFailingMax) return false;
    if (!recorder.hasRoom() || !queues.isHeld(queue)) return false;
    const job = queue.take(now());
    if (job === undefined) return false;
    underWay += 1;
    underWayOf.set(tenantId, ofTenant + 1);
    if (isFailing) underWayFailing += 1;
    void send(queue, job, isFailing);
    return true;
  }

  /** At the limit, a request that finishes makes room for the next queue in turn, and not for its own. */
  function pumpNext(): void {
    for (let looked = 0; looked <= queues.count(); looked++) {
      const { value, done } = rotation.next() as IteratorResult<EndpointQueue, undefined>;
      if (done === true) rotation = queues.all()[Symbol.iterator]();
      else if (pumpOne(value)) return;
    }
  }

  function finishSending(queue: EndpointQueue, wasFailing: boolean): void {
    const { tenantId } = queue.lease;
    const ofTenant = underWayOf.get(tenantId) ?? 1;
    const wasFull =
      underWay === underWayMax ||
      ofTenant === underWayPerTenantMax ||
      (wasFailing && underWayFailing === underWayFailingMax);
    underWay -= 1;
    if (wasFailing) underWayFailing -= 1;
    if (ofTenant === 1) underWayOf.delete(tenantId);
    else underWayOf.set(tenantId, ofTenant - 1);
    if (wasFull) pumpNext();
    else pump(queue);
    if (wasFull || queue.isClosed || queue.wantsMore()) loop.wake();
    if (underWay === 0) onNoneUnderWay?.();
  }

  async function send(queue: EndpointQueue, job: Job, isFailing: boolean): Promise<void> {
    const { id, attempts } = job.due;
    try {
      await turns.take(queue.lease.tenantId, queue.lease.endpointId);
      // Meanwhile the endpoint can have been changed or the lease lost.
      if (loop.isStopping() || queue.isClosed || !queues.isHeld(queue)) {
        queue.giveUp(job);
        return;
      }
      const { lease } = queue;
      deps.onAttempt(lease.tenantId);
      const body = bodyOf(job.event, id);
      const attempted = await deps.attempt(lease.endpoint, id, attempts + 1, body, job.event);
      if (attempted === "stopped") {
        queue.stop(job);
        return;
      }
      const { attempt, verdict, next } = attempted;
      const health = queue.finish(job, verdict, now());
      const result = { lease, deliveryId: id, attempt, next };
      recorder.add({
        result,
        health,
        onRecorded: () => queue.forget(id),
        onLost: (error) => startOver(queue, error),
      });
      if (verdict === "failed" || verdict === "gone") await disableIfHopeless(queue, verdict);
    } catch (error) {
      queue.abandon(job, now());
      await recordFailure(job.due, error).catch((second: unknown) => startOver(queue, second));
      queue.forget(id);
    } finally {
      finishSending(queue, isFailing);
    }
  }

  /** An endpoint that is gone, or has failed for days, is disabled; if that fails, the next holder of the lease tries it again. */
  async function disableIfHopeless(queue: EndpointQueue, verdict: "failed" | "gone"): Promise<void> {
    const isHopeless = verdict === "gone" || queue.failingForMs(now()) >= failingMaxMs;
    if (!isHopeless) return;
    const { tenantId, endpointId } = queue.lease;
    queue.close();
    await deps.disableEndpoint(tenantId, endpointId, verdict === "gone" ? "gone" : "failing").catch(onError);
  }

  function noneUnderWay(): Promise<void> {
    return new Promise((resolve) => {
      onNoneUnderWay = resolve;
      if (underWay === 0) resolve();
    });
  }

  function withinGracePeriod(work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const cancel = deps.timers.after(stopGraceMs, resolve);
      void work.then(() => {
        cancel();
        resolve();
      });
    });
  }

  function wake(tenantIds: readonly string[] | "any"): void {
    if (tenantIds === "any") woken = "any";
    else if (woken !== "any") for (const tenantId of tenantIds) woken.add(tenantId);
    loop.wake();
  }

  return {
    start: loop.start,
    wake,
    refresh: (tenantIds) => {
      isRefreshWanted = true;
      wake(tenantIds);
    },
    reset: () => {
      filler.reset();
      queues.reset();
      wake("any");
    },
    stop: async () => {
      await loop.stop();
      await withinGracePeriod(noneUnderWay());
      await recorder.close();
      await queues.releaseAll().catch(onError);
    },
  };
}
