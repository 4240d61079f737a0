import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { policyMax } from "./plain-input.js";
import type { Has, PlainAnswer } from "./plain-server.js";
import { type PlainSecret, signNotification } from "./plain-signatures.js";

interface Announced {
  readonly id: string;
  readonly state: string;
  readonly amount: string;
}

export interface PlainWebhooks {
  readonly register: (body: string, tenant: string) => PlainAnswer;
  readonly remove: (id: string) => PlainAnswer;
  /** Adds a secret; the old one also signs. */
  readonly rotate: (id: string) => PlainAnswer;
  /** Those that are registered now: a transaction is announced to those of when it was created, so that faults can count. */
  readonly registered: () => readonly Endpoint[];
  /** To those of these endpoints that belong to the tenant. */
  readonly announce: (transaction: Announced, tenant: string, registered: readonly Endpoint[]) => void;
  readonly count: () => number;
  readonly stop: () => void;
}

interface Notification {
  readonly deliveryId: string;
  readonly transaction: Announced;
  readonly occurredAt: string;
  attempt: number;
}

/** Faults that show only if a transaction is announced before its result too. */
const earlyFaults = ["result-under-other-event", "result-not-retried", "retry-has-newer-state"] as const;

/** Of a notification whose reference is not longer than usual, it is the whole. */
const signedBytes = 430;
/** Larger than the first notifications. */
const largeBytes = 1000;
/** Of a transaction that no check of the first notifications looks at. */
const longLength = 600;

export const retryScheduleMs = [25, 50] as const;
const attemptsMax = 5;
/** Longer than a busy machine takes to answer, and shorter than the checks wait that wait long. */
const senderTimeoutMs = 1400;
/** More than the checks of the first notifications look at. */
const reusedAfter = 5;
/** One of so many is announced, if that is the fault. */
const someEach = 4;
/** Fewer than are announced before the checks of retries begin. */
const restartedAt = 30;
/** Few, because checks that wait find the attempts of a delivery by its id. */
const isReused = (count: number) => count > reusedAfter && count <= reusedAfter + 4;

interface Endpoint {
  readonly url: string;
  readonly tenant: string;
  /** The newest is the last. */
  readonly secrets: PlainSecret[];
}

/** What is announced of a transaction, with another amount or reference if that is the fault. */
function sayOtherwise(transaction: Announced, isLong: boolean, has: Has): object {
  const isOtherAmount = has("webhook-has-other-amount") || (isLong && has("late-amount-is-another"));
  return {
    ...transaction,
    ...(isOtherAmount ? { amount: "9.99" } : {}),
    ...(has("webhook-amount-through-double") ? { amount: String(Number(transaction.amount)) } : {}),
    ...(has("webhook-has-other-asset") ? { asset: "EUR" } : {}),
    ...(has("webhook-without-asset") ? { asset: undefined } : {}),
    ...(has("webhook-without-amount") ? { amount: undefined } : {}),
    ...(has("webhook-has-other-reference") ? { reference: "another" } : {}),
  };
}

/** Signed as Standard Webhooks, and retried until the receiver answers with 2xx. */
export function createPlainWebhooks(has: Has, connect?: () => Duplex): PlainWebhooks {
  const endpoints = new Map<string, Endpoint>();
  const timers = new Set<NodeJS.Timeout>();
  const connection = connect === undefined ? { agent: false } : { createConnection: connect };
  let announcedCount = 0;
  let isDisabled = false;
  const later = (ms: number, act: () => void) => {
    const dueAt = performance.now() + ms;
    const timer = setTimeout(() => {
      timers.delete(timer);
      // Node counts from the beginning of its turn, which can be long ago if many runs share the process.
      const earlyMs = dueAt - performance.now();
      if (earlyMs > 1) later(earlyMs, act);
      else act();
    }, ms);
    timers.add(timer);
  };

  const deliver = (endpoint: Endpoint, notification: Notification) => {
    const { transaction, attempt } = notification;
    const isRetry = attempt > 0;
    const isThird = attempt > 1;
    const isFailed = transaction.state === "failed";
    const isRenamed =
      (isRetry && (has("retry-has-new-id") || has("retry-has-new-id-and-counter"))) ||
      (isThird && has("third-attempt-has-new-id")) ||
      (isRetry && isFailed && has("failed-retry-has-new-id"));
    const id = isRenamed ? randomUUID() : notification.deliveryId;
    const hasNoId = has("delivery-id-missing") || (isRetry && has("retry-without-id"));
    const isLong = JSON.stringify(transaction).length > longLength;
    const isWrongResult =
      has("webhook-disagrees") ||
      (isRetry && has("retry-has-other-result")) ||
      (isLong && has("late-result-is-another"));
    const state = isWrongResult
      ? "failed"
      : has("result-not-announced")
        ? "accepted"
        : (isRetry && has("retry-has-newer-state")) || (isFailed && has("failed-announced-as-completed"))
          ? "completed"
          : transaction.state;
    const isNamedById = has("refused-yet-created-by-id") && Number(transaction.amount) > policyMax;
    const named = isNamedById ? { id: transaction.id } : sayOtherwise(transaction, isLong, has);
    const shown = { ...named, state: has("webhook-without-state") ? undefined : state };
    const isOther = has("result-under-other-event") && transaction.state === "completed";
    const isOtherAtRetry = isRetry && has("retry-has-other-event");
    const event =
      has("event-misnamed") || isOther || isOtherAtRetry ? "transaction.changed" : "transaction.updated";
    const members = {
      ...(has("event-missing") || (isRetry && has("retry-without-event")) ? {} : { event }),
      ...(hasNoId ? {} : { delivery_id: id }),
      ...(has("retry-has-new-id-and-counter") ? { sending: { tryCount: attempt } } : {}),
      ...(has("webhook-off-schema") ? {} : { occurred_at: notification.occurredAt }),
      data: { transaction: shown },
    };
    // Spaces between the members, so that a signature of re-serialised JSON is another one.
    const whole = JSON.stringify(members, null, 1);
    const body = has("webhook-cut") ? whole.slice(0, -5) : whole;
    const seconds = Math.floor(Date.now() / 1000) * (has("timestamp-in-milliseconds") ? 1000 : 1);
    const timestamp = has("no-webhook-timestamp") ? "" : String(seconds);
    const signed = has("signed-reserialised") ? JSON.stringify(JSON.parse(body)) : body;
    const content = has("signed-over-nothing")
      ? ""
      : has("signed-without-timestamp")
        ? signed
        : `${id}.${timestamp}.${signed}`;
    const signatures = endpoint.secrets.map(({ secret }) => {
      const own = has("signed-with-text-secret") ? secret.toString("base64") : secret;
      const isWrong =
        has("signed-with-wrong-key") ||
        (has("failure-signed-wrongly") && isFailed) ||
        (has("markup-signed-wrongly") && body.includes("<")) ||
        (has("emoji-signed-wrongly") && body.includes("😀")) ||
        (has("signed-up-to-a-length") && body.length > signedBytes && body.length < largeBytes) ||
        (has("large-signed-wrongly") && body.length > largeBytes) ||
        (has("third-attempt-signed-wrongly") && isThird);
      const key = isWrong ? randomBytes(32) : own;
      return `v1,${createHmac("sha256", key)
        .update(Buffer.from(content, has("signed-as-latin-1") ? "latin1" : "utf8"))
        .digest(has("signed-as-hex") ? "hex" : "base64")}`;
    });
    const isUnsigned = has("unsigned") || (isRetry && has("retry-unsigned"));
    const headers = {
      "content-type": "application/json",
      "webhook-id": id,
      ...(timestamp === "" ? {} : { "webhook-timestamp": timestamp }),
      ...(has("webhook-header-missing") ? {} : { "plain-attempt": String(attempt) }),
      ...(isUnsigned
        ? {}
        : {
            "webhook-signature": signatures.join(" "),
            ...signNotification(has, { id, body, secrets: endpoint.secrets }),
          }),
    };
    const isFinal = transaction.state === "completed";
    let isLate = false;
    const outgoing = request(endpoint.url, { method: "POST", headers, ...connection }, (response) => {
      response.resume();
      clearTimeout(timeout);
      const isDone = response.statusCode !== undefined && response.statusCode < 300;
      if (isDone && has("sent-again-after-2xx") && attempt === 0) again(endpoint, notification, true);
      isDisabled ||= !isDone && has("endpoint-disabled-by-failure");
      const isDropped =
        (has("result-not-retried") && isFinal) ||
        (has("failed-not-retried") && isFailed) ||
        (has("redirect-not-retried") && response.statusCode === 302) ||
        (has("too-many-not-retried") && response.statusCode === 429) ||
        (has("unavailable-not-retried") && response.statusCode === 503);
      if (!isDone && !isDropped && !has("failure-not-retried")) again(endpoint, notification);
    });
    const timeout = setTimeout(() => {
      isLate = true;
      outgoing.destroy();
    }, senderTimeoutMs).unref();
    outgoing.on("error", () => {
      clearTimeout(timeout);
      const isDropped =
        (has("timeout-not-retried") && isLate) ||
        has("unanswered-not-retried") ||
        (has("result-not-retried") && isFinal);
      if (!isDropped) again(endpoint, notification);
    });
    outgoing.end(body);
  };
  const again = (endpoint: Endpoint, notification: Notification, isAnswered = false) => {
    const delayMs = retryScheduleMs[notification.attempt] ?? retryScheduleMs[1];
    const isEarly = isAnswered || (has("retried-too-early") && notification.attempt > 0);
    notification.attempt += 1;
    if (notification.attempt < attemptsMax)
      later(isEarly ? 1 : delayMs, () => deliver(endpoint, notification));
  };

  const addSecret = (id: string): PlainAnswer => {
    const secret = { keyId: `key_${randomUUID()}`, secret: randomBytes(24) };
    endpoints.get(id)?.secrets.push(secret);
    const shown = `${has("secret-without-prefix") ? "" : "whsec_"}${secret.secret.toString("base64")}`;
    return { status: 201, body: { id, secret: shown, key_id: secret.keyId } };
  };

  return {
    register: (body, tenant) => {
      const { url } = JSON.parse(body) as { url: string };
      const id = `whe_${endpoints.size + 1}`;
      endpoints.set(id, { url, tenant, secrets: [] });
      return addSecret(id);
    },
    rotate: addSecret,
    remove: (id) => ({ status: endpoints.delete(id) ? 200 : 404, body: {} }),
    registered: () => [...endpoints.values()],
    announce: (transaction, tenant, registered) => {
      announcedCount += registered.length > 0 ? 1 : 0;
      if (has("no-webhook") || (has("only-some-announced") && announcedCount % someEach !== 1) || isDisabled)
        return;
      if (has("announced-if-ascii") && /[^ -~]/.test(JSON.stringify(transaction))) return;
      for (const endpoint of registered) {
        if (endpoint.tenant !== tenant && !has("announced-to-other-tenant")) continue;
        const deliveryId = has("delivery-id-equal")
          ? "dlv_1"
          : has("delivery-id-per-transaction")
            ? transaction.id
            : has("delivery-id-reused-later") && isReused(announcedCount)
              ? `dlv_${announcedCount % 2}`
              : has("delivery-id-restarts")
                ? `dlv_${announcedCount % restartedAt}`
                : randomUUID();
        const notification = { transaction: { ...transaction }, occurredAt: new Date().toISOString() };
        const changes = earlyFaults.some(has) ? ["accepted"] : [];
        for (const state of changes)
          deliver(endpoint, {
            ...notification,
            transaction: { ...transaction, state },
            deliveryId: randomUUID(),
            attempt: 0,
          });
        deliver(endpoint, { ...notification, deliveryId, attempt: 0 });
        if (has("notification-sent-twice"))
          deliver(endpoint, { ...notification, deliveryId: randomUUID(), attempt: 0 });
      }
    },
    count: () => endpoints.size,
    stop: () => {
      endpoints.clear();
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
