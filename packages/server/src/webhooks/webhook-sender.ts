import type { AttemptDelivery } from "../app/webhooks/attempt-delivery.js";
import type { DisabledReason } from "../app/webhooks/endpoint.js";
import { bodyOf, type ReadTexts } from "../app/webhooks/event-texts.js";
import type { DueDelivery, SendingStore } from "../app/webhooks/sending.js";
import type { Timers } from "../runtime/timers.js";
import { createWakingLoop } from "../runtime/waking-loop.js";
import type { Job, Lane } from "./lane.js";
import { createLeaseKeeper, lookAgainAfterMs } from "./lease-keeper.js";
import { createResultRecorder } from "./result-recorder.js";

/**
 * Sends what is due to the endpoints that this process holds, each in a lane of its own. At least once: a delivery is done when
 * its result is written down, and whoever dies before that leaves it to the next holder. Nothing is sent inside a transaction.
 */
export interface WebhookSender {
  start: () => void;
  /** Something may be due at the endpoints of these tenants. */
  wake: (tenantIds: readonly string[] | "any") => void;
  /** An endpoint may have changed. */
  refresh: (tenantIds: readonly string[] | "any") => void;
  /** Lets what is under way finish, for a while, and gives back the leases. */
  stop: () => Promise<void>;
}

export interface WebhookSenderDeps {
  store: SendingStore;
  readTexts: ReadTexts;
  attempt: AttemptDelivery;
  disableEndpoint: (tenantId: string, endpointId: string, reason: DisabledReason) => Promise<void>;
  /** How many requests to one endpoint may be under way at once. */
  concurrency: number;
  holder: string;
  onError: (error: unknown) => void;
  /** Whether an error means that the database is away, or out of time. */
  isUnavailable: (error: unknown) => boolean;
  now: () => number;
  monotonicMs: () => number;
  /** How often to look where nobody has said anything; retries and what other processes have lost are found so. */
  lookEveryMs: number;
  timers: Pick<Timers, "after">;
}

const underWayMax = 2000;
/** Of one tenant, however many endpoints it has: the others are served beside it. */
const underWayPerTenantMax = 500;
const fillMax = 4096;
const laneFillMax = 64;
const laneFillMin = 8;
const pauseAfterErrorMs = 500;
const stopGraceMs = 2500;
/** An endpoint where nothing has arrived for so long is disabled. */
const failingMaxMs = 5 * 86_400_000;

export function createWebhookSender(deps: WebhookSenderDeps): WebhookSender {
  const { store, now, monotonicMs, onError } = deps;
  const leases = createLeaseKeeper(deps);
  const recorder = createResultRecorder(deps);
  let underWay = 0;
  const underWayOf = new Map<string, number>();
  let rotation: Iterator<Lane> = leases.lanes()[Symbol.iterator]();
  let onNoneUnderWay: (() => void) | undefined;
  let hinted: Set<string> | "any" = "any";
  let isRefreshWanted = false;
  let lookedMs = Number.NEGATIVE_INFINITY;
  const loop = createWakingLoop({
    step: async () => {
      await step();
      return { pauseMs: leases.hasPostponed() ? lookAgainAfterMs : deps.lookEveryMs };
    },
    onError,
    pauseAfterErrorMs,
    timers: deps.timers,
  });

  async function step(): Promise<void> {
    const isRefresh = isRefreshWanted;
    isRefreshWanted = false;
    await leases.keep(isRefresh);
    if (monotonicMs() - lookedMs >= deps.lookEveryMs) hinted = "any";
    const wanted = hinted;
    hinted = new Set();
    if (wanted === "any") lookedMs = monotonicMs();
    if (wanted === "any" || wanted.size > 0)
      for (const lane of leases.lanes())
        if (wanted === "any" || wanted.has(lane.lease.tenantId)) lane.mayHaveMore = true;
    // Those that are held are served also where it cannot be found out which others are waiting.
    const failure = await leases.take(wanted).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    await fill();
    for (const lane of leases.lanes()) pump(lane);
    if (failure !== undefined) throw failure.error;
  }

  /** Gets what is due for every lane that has little left, in one query for all of them. */
  async function fill(): Promise<void> {
    const wanting = [...leases.lanes()].filter((lane) => lane.wantsMore());
    if (wanting.length === 0 || !recorder.hasRoom()) return;
    const max = Math.max(laneFillMin, Math.min(laneFillMax, Math.floor(fillMax / wanting.length)));
    const wishes = wanting.map((lane) => {
      // Before the question: what is announced while it is answered may not be in the answer.
      lane.mayHaveMore = false;
      return lane.wish(max);
    });
    const found = new Map<Lane, DueDelivery[]>(wanting.map((lane) => [lane, []]));
    for (const due of await store.readDue(wishes, new Date(now()))) {
      const lane = leases.laneOf(due);
      if (lane !== undefined) found.get(lane)?.push(due);
    }
    await give(found);
  }

  async function give(found: ReadonlyMap<Lane, readonly DueDelivery[]>): Promise<void> {
    const fresh = [...found].flatMap(([lane, all]) => all.filter(({ id }) => lane.isNew(id)));
    const texts = await deps.readTexts(fresh);
    const jobs = new Map<Lane, Job[]>([...found.keys()].map((lane) => [lane, []]));
    for (const [index, due] of fresh.entries()) {
      const text = texts[index];
      const lane = leases.laneOf(due);
      if (text !== undefined && lane !== undefined) jobs.get(lane)?.push({ due, text });
    }
    for (const [lane, all] of found) lane.offer(jobs.get(lane) ?? [], all);
  }

  function pump(lane: Lane): void {
    while (pumpOne(lane));
  }

  function pumpOne(lane: Lane): boolean {
    const { tenantId } = lane.lease;
    const ofTenant = underWayOf.get(tenantId) ?? 0;
    if (loop.isStopping() || underWay >= underWayMax || ofTenant >= underWayPerTenantMax) return false;
    if (!recorder.hasRoom() || monotonicMs() >= lane.heldUntilMs) return false;
    const job = lane.take(now());
    if (job === undefined) return false;
    underWay += 1;
    underWayOf.set(tenantId, ofTenant + 1);
    void send(lane, job);
    return true;
  }

  /** Where there is no more room, whoever finishes makes room for the next lane in turn, and not for its own. */
  function pumpNext(): void {
    for (let looked = 0; looked <= leases.laneCount(); looked++) {
      const { value, done } = rotation.next() as IteratorResult<Lane, undefined>;
      if (done === true) rotation = leases.lanes()[Symbol.iterator]();
      else if (pumpOne(value)) return;
    }
  }

  function finishSending(lane: Lane): void {
    const { tenantId } = lane.lease;
    const ofTenant = underWayOf.get(tenantId) ?? 1;
    const wasFull = underWay === underWayMax || ofTenant === underWayPerTenantMax;
    underWay -= 1;
    if (ofTenant === 1) underWayOf.delete(tenantId);
    else underWayOf.set(tenantId, ofTenant - 1);
    if (wasFull) pumpNext();
    else pump(lane);
    if (wasFull || lane.isClosed || lane.wantsMore()) loop.wake();
    if (underWay === 0) onNoneUnderWay?.();
  }

  async function send(lane: Lane, job: Job): Promise<void> {
    const { lease } = lane;
    const { tenantId, endpointId, id, attempts } = job.due;
    try {
      const body = bodyOf(job.text, id);
      const { attempt, verdict, next } = await deps.attempt(lease.endpoint, id, attempts + 1, body);
      const health = lane.finish(job, verdict, now());
      recorder.add({
        result: { lease, deliveryId: id, attempt, next },
        health,
        onRecorded: () => lane.forget(id),
      });
      const reason = verdict === "delivered" ? undefined : reasonToDisable(lane, verdict);
      if (reason === undefined) return;
      lane.close();
      await deps.disableEndpoint(tenantId, endpointId, reason);
    } catch (error) {
      // Our own fault, not the receiver's: nothing is counted against the delivery, and the next holder begins anew.
      onError(error);
      lane.close();
      lane.forget(id);
    } finally {
      finishSending(lane);
    }
  }

  function noneUnderWay(): Promise<void> {
    return new Promise((resolve) => {
      onNoneUnderWay = resolve;
      if (underWay === 0) resolve();
    });
  }

  function reasonToDisable(lane: Lane, verdict: "failed" | "gone"): DisabledReason | undefined {
    if (verdict === "gone") return "gone";
    return lane.failingForMs(now()) >= failingMaxMs ? "failing" : undefined;
  }

  function inGraceTime(work: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const callOff = deps.timers.after(stopGraceMs, resolve);
      void work.then(() => {
        callOff();
        resolve();
      });
    });
  }

  function wake(tenantIds: readonly string[] | "any"): void {
    if (tenantIds === "any") hinted = "any";
    else if (hinted !== "any") for (const tenantId of tenantIds) hinted.add(tenantId);
    loop.wake();
  }

  return {
    start: loop.start,
    wake,
    refresh: (tenantIds) => {
      isRefreshWanted = true;
      wake(tenantIds);
    },
    stop: async () => {
      await loop.stop();
      await inGraceTime(noneUnderWay());
      await recorder.close();
      await leases.releaseAll().catch(onError);
    },
  };
}
