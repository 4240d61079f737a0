import type { BursarEvent } from "../../resources/event-kinds.js";
import { type Runtime, sleep, systemRuntime } from "../../transport/runtime.js";
import { type EventNotification, isEvent } from "../verification/notification.js";
import { verifyWebhook, type WebhookHeaders } from "../verification/verify-webhook.js";
import { WebhookError } from "../verification/webhook-error.js";
import { checkSecrets } from "../verification/webhook-secret.js";
import { backfillFrom, type EventSource, skipHistoryOf } from "./backfill.js";
import { deliveryOf } from "./delivery.js";
import type { SequenceRange } from "./gaps.js";
import { findMissing } from "./missing.js";
import type { ClaimedDelivery, ParkedDelivery, ReceiverStore } from "./receiver-store.js";

export interface ReceiverOptions<Context> {
  /** The live secrets of the endpoint, or a function that returns them, so that a rotation needs no restart. A list is checked at once. */
  secrets: readonly string[] | (() => readonly string[] | Promise<readonly string[]>);
  store: ReceiverStore<Context>;
  /** Does what an event means to you. What it throws is recorded, and it is called again later. */
  handle: (notification: EventNotification, context: Context) => Promise<void> | void;
  /** The kinds that are handled: give those that the endpoint receives. Defaults to all. */
  kinds?: readonly BursarEvent["event"][];
  toleranceSeconds?: number;
  /** After this many failures a delivery is parked. Defaults to 10. */
  attemptsMax?: number;
  /** After this time a delivery that is stored is answered, and processing goes on. The service waits for 15 s. Defaults to 10 s. */
  answerAfterMs?: number;
  /**
   * How long deliveries that are done are remembered, in a database: one that is sent again later is recognised by its version alone. The
   * journal has an option of its own. Defaults to 30 days.
   */
  retentionMs?: number;
  /** How often the store is asked for deliveries that are due. Defaults to 1 s. */
  pollMs?: number;
  /** Called with what a handler or the store throws. */
  onError?: (error: unknown, deliveryId: string | undefined) => void;
  runtime?: Partial<Runtime>;
}

/** What is sent back to the service. */
export interface ReceiverAnswer {
  status: number;
  /** JSON, if there is any. */
  body?: string;
}

export interface Receiver {
  /** Verifies, persists, processes and answers one delivery. It does not throw. */
  receive: (request: {
    headers: WebhookHeaders;
    rawBody: string | Uint8Array | ArrayBuffer;
  }) => Promise<ReceiverAnswer>;
  /** Processes what is due: what a crash has left, and what has failed before. Returns how many were tried. */
  processDue: () => Promise<number>;
  /** Calls `processDue` from time to time, and forgets old deliveries, until the returned function is called. */
  start: () => () => Promise<void>;
  /** Deliveries whose handler has failed too often. */
  parked: (limit?: number) => Promise<ParkedDelivery[]>;
  /** Gives a parked delivery all its attempts again; false if it is not parked. */
  retry: (deliveryId: string) => Promise<boolean>;
  /**
   * The events of the handled kinds that have not arrived, between those that have. The log says what is in a gap, because other kinds
   * leave gaps by nature. Nothing is stored.
   */
  missing: (client: EventSource) => Promise<SequenceRange[]>;
  /**
   * If the store was never used: makes what the log has now count as known, so that `backfill` and `missing` begin after it. Returns whether
   * that was so.
   */
  skipHistory: (client: EventSource) => Promise<boolean>;
  /**
   * Reads missing events, and those after the last, from the log, and processes them; with an empty store all events. With `since`, also
   * those between that sequence and the first that has arrived. Returns how many there were.
   */
  backfill: (client: EventSource, options?: { since?: number }) => Promise<number>;
}

const dueAtOnce = 100;
const gapsMax = 1000;
const prunedAtOnce = 1000;
const pruneEveryMs = 60 * 60_000;
/** How far the clock of the service may be from that of the receiver. */
const clockSkewMsMax = 5 * 60_000;
const retentionMsDefault = 30 * 24 * 60 * 60_000;
const firstPauseMs = 1000;
const pauseMsMax = 5 * 60_000;
/** What is wrong with the receiver itself: the service tries again later. */
const ownFaults = ["body_already_parsed", "malformed_secret"];
const notAuthentic = ["no_matching_signature", "too_old", "from_the_future"];

export function createReceiver<Context>(options: ReceiverOptions<Context>): Receiver {
  const { store, handle, kinds, attemptsMax = 10, answerAfterMs = 10_000, pollMs = 1000 } = options;
  if (store.isSynchronous === true && handle.constructor.name === "AsyncFunction")
    throw new TypeError(
      "With this store the handler must not be async: the store's transaction cannot wait for it.",
    );
  if (typeof options.secrets !== "function") checkSecrets(options.secrets);
  const runtime: Runtime = { ...systemRuntime, ...options.runtime };
  const report = (error: unknown, deliveryId?: string) => options.onError?.(error, deliveryId);

  /** One attempt at a stored delivery; true if nothing is left to do. */
  async function attempt(id: string): Promise<boolean> {
    const claimed: ClaimedDelivery[] = [];
    try {
      await store.process(id, (delivery, context) => {
        claimed.push(delivery);
        return handle(JSON.parse(delivery.body) as EventNotification, context);
      });
      return true;
    } catch (error) {
      report(error, id);
      const failures = (claimed[0]?.attempts ?? 0) + 1;
      const pauseMs = Math.min(pauseMsMax, firstPauseMs * 2 ** (failures - 1)) * (0.5 + runtime.random() / 2);
      const nextAttemptAtMs = failures >= attemptsMax ? undefined : runtime.now() + pauseMs;
      // A failure of the store itself says nothing about the delivery, and is not counted.
      if (claimed.length > 0) await store.fail(id, messageOf(error), nextAttemptAtMs);
      return false;
    }
  }

  async function accept(notification: EventNotification, headers: WebhookHeaders): Promise<ReceiverAnswer> {
    const isWanted = kinds === undefined || kinds.includes(notification.event);
    const delivery = deliveryOf(notification, epochOf(headers));
    await store.save(delivery, isWanted ? "pending" : "skipped", runtime.now());
    if (!isWanted) return { status: 204 };
    // From here on nothing is lost: what fails now is processed later. A known delivery may still wait for that.
    const processing = attempt(delivery.id).catch((error: unknown) => {
      report(error, delivery.id);
      return false;
    });
    let cancel = () => {};
    const late = new Promise<boolean>((resolve) => {
      cancel = runtime.schedule(answerAfterMs, () => resolve(false));
    });
    const isDone = await Promise.race([processing, late]);
    cancel();
    return { status: isDone ? 204 : 202 };
  }

  async function receive({ headers, rawBody }: Parameters<Receiver["receive"]>[0]): Promise<ReceiverAnswer> {
    try {
      const secrets = typeof options.secrets === "function" ? await options.secrets() : options.secrets;
      const { toleranceSeconds } = options;
      const notification = await verifyWebhook({
        headers,
        rawBody,
        secrets,
        toleranceSeconds,
        nowMs: runtime.now(),
      });
      if (isEvent(notification)) return await accept(notification, headers);
      if (notification.event !== "endpoint.challenge") return { status: 204 };
      return { status: 200, body: JSON.stringify({ challenge: notification.data.challenge }) };
    } catch (error) {
      report(error);
      if (!(error instanceof WebhookError) || ownFaults.includes(error.reason)) return { status: 503 };
      return {
        status: notAuthentic.includes(error.reason) ? 401 : 400,
        body: JSON.stringify({ reason: error.reason }),
      };
    }
  }

  async function processDue(): Promise<number> {
    const due = await store.due(runtime.now(), dueAtOnce);
    for (const { id } of due) await attempt(id);
    return due.length;
  }

  /** Forgets what is done and old enough, in statements of bounded size. */
  async function prune(signal: AbortSignal): Promise<void> {
    const beforeMs = runtime.now() - (options.retentionMs ?? retentionMsDefault);
    while (!signal.aborted && (await store.prune?.(beforeMs, prunedAtOnce)) === prunedAtOnce);
  }

  async function run(signal: AbortSignal): Promise<void> {
    const reported =
      <Value>(fallback: Value) =>
      (error: unknown) => {
        report(error);
        return fallback;
      };
    for (let pruneAt = 0; !signal.aborted; ) {
      if (runtime.now() >= pruneAt) {
        pruneAt = runtime.now() + pruneEveryMs;
        await prune(signal).catch(reported(undefined));
      }
      const tried = await processDue().catch(reported(0));
      if (tried < dueAtOnce) await sleep(runtime, pollMs, signal).catch(() => undefined);
    }
  }

  return {
    receive,
    processDue,
    start: () => {
      const stopped = new AbortController();
      const running = run(stopped.signal);
      return async () => {
        stopped.abort();
        await running;
      };
    },
    parked: (limit = dueAtOnce) => store.parked(limit),
    retry: (deliveryId) => store.retry(deliveryId, runtime.now()),
    missing: (client) => findMissing(client, store, { kinds, gapsMax }),
    skipHistory: (client) => skipHistoryOf(client, store),
    backfill: async (client, { since } = {}) => {
      const retentionMs = store.retentionMs ?? options.retentionMs ?? retentionMsDefault;
      const rememberedSinceMs = runtime.now() - retentionMs + clockSkewMsMax;
      const saved = await backfillFrom(client, store, {
        kinds,
        now: runtime.now,
        gapsMax,
        since,
        rememberedSinceMs,
      });
      for (const id of saved) await attempt(id);
      return saved.length;
    },
  };
}

function epochOf(headers: WebhookHeaders): string {
  const name = "webhook-epoch";
  const value =
    typeof (headers as Headers).get === "function"
      ? (headers as Headers).get(name)
      : (headers as Record<string, unknown>)[name];
  return typeof value === "string" ? value : "";
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 1000);
}
