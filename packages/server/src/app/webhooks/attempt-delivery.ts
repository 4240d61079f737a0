import { delayAfter, readRetryAfterMs } from "@bursar/domain";
import { showId, signStandardWebhook, signWebhookMessage } from "@bursar/protocol";
import { formatTraceparent, type TraceContext } from "../../runtime/tracing/trace-context.js";
import type { Span, Tracer } from "../../runtime/tracing/tracer.js";
import type { DeliveryAttempt } from "./delivery.js";
import type { WebhookEndpoint } from "./endpoint.js";
import { liveKeys, type OpenKey, rememberOpened, type SecretBox } from "./endpoint-secrets.js";
import type { AttemptResult } from "./sending.js";
import { webhookHashes } from "./webhook-hashes.js";
import type { PostOutcome, WebhookPost } from "./webhook-post.js";

export interface AttemptDeps {
  post: WebhookPost;
  box: Pick<SecretBox, "open">;
  userAgent: string;
  /** The epoch of the database now; undefined if it is not known. */
  epoch: () => string | undefined;
  /** The limit for a whole attempt, from the look-up of the address to the end of the response. */
  timeoutMs: number;
  /** How long to wait before each attempt, the first one too; there are as many attempts as entries. */
  retryDelaysMs: readonly number[];
  /** Returns a number from 0 to 1. */
  random: () => number;
  now: () => number;
  /** Records attempts of deliveries whose trace is recorded. */
  tracer?: Pick<Tracer, "startChild"> | undefined;
}

export interface Attempted {
  attempt: DeliveryAttempt;
  /** `gone`: the receiver wants nothing more, ever. `withheld`: nothing was sent, because the endpoint may not receive this event. */
  verdict: "delivered" | "failed" | "gone" | "withheld";
  next: AttemptResult["next"];
}

/** Sends a delivery once, signed for this attempt, and says what is to become of it. */
export type AttemptDelivery = (
  endpoint: WebhookEndpoint,
  deliveryId: string,
  number: number,
  body: string,
  /** The span that has caused the event, if it is recorded. */
  trace?: TraceContext,
) => Promise<Attempted>;

export function createDeliveryAttempter(given: AttemptDeps): AttemptDelivery {
  const deps = { ...given, open: rememberOpened(given.box) };
  return async (endpoint, deliveryId, number, body, trace) => {
    const startedMs = deps.now();
    const span = trace && deps.tracer?.startChild(trace, { name: "POST webhook", kind: "client" });
    const traceparent = span === undefined ? traceOf(deliveryId, number) : formatTraceparent(span.context);
    const headers = headersOf(deps, endpoint, deliveryId, number, body, startedMs);
    const { tenantId, url } = endpoint;
    const outcome = await deps.post({
      tenantId,
      url,
      headers: { ...headers, traceparent },
      body,
      timeoutMs: deps.timeoutMs,
    });
    const verdict = judge(outcome);
    if (span !== undefined) endSpan(span, outcome, { deliveryId, number, url });
    return {
      attempt: describe(outcome, startedMs),
      verdict,
      next: decideNext(deps, verdict, number, outcome),
    };
  };
}

function headersOf(
  { open, userAgent, epoch: readEpoch }: AttemptDeps & { open: OpenKey },
  endpoint: WebhookEndpoint,
  deliveryId: string,
  number: number,
  body: string,
  nowMs: number,
): Record<string, string> {
  const id = showId("dlv", deliveryId);
  const timestampSeconds = Math.floor(nowMs / 1000);
  const keys = liveKeys(open, endpoint, nowMs);
  const message = { id, timestampSeconds, body, keys, secrets: keys.map(({ secret }) => secret) };
  const signed = signWebhookMessage(message, webhookHashes);
  const epoch = readEpoch();
  return {
    "content-type": "application/json",
    "user-agent": userAgent,
    "webhook-id": id,
    "webhook-timestamp": `${timestampSeconds}`,
    "webhook-signature": signStandardWebhook(message, webhookHashes),
    "webhook-attempt": `${number}`,
    ...(epoch === undefined ? {} : { "webhook-epoch": epoch }),
    "content-digest": signed["content-digest"],
    "signature-input": signed["signature-input"],
    signature: signed.signature,
  };
}

/** Not the URL: its path and query can contain a secret of the receiver. */
function endSpan(
  span: Span,
  outcome: PostOutcome,
  { deliveryId, number, url }: { deliveryId: string; number: number; url: string },
): void {
  const isAnswered = outcome.kind === "answered";
  const attributes = {
    "http.request.method": "POST",
    "http.response.status_code": isAnswered ? outcome.status : undefined,
    "server.address": URL.canParse(url) ? new URL(url).hostname : undefined,
    "bursar.delivery.id": showId("dlv", deliveryId),
    "bursar.delivery.attempt": number,
  };
  const isDelivered = judge(outcome) === "delivered";
  span.end(attributes, isDelivered ? undefined : isAnswered ? `status ${outcome.status}` : outcome.reason);
}

/** Without a recorded trace, that of a delivery is its own id, and each attempt is a span of it: for the receiver to go on with. */
export function traceOf(deliveryId: string, number: number): string {
  const trace = deliveryId.replaceAll("-", "");
  return `00-${trace}-${trace.slice(-12)}${number.toString(16).padStart(4, "0")}-01`;
}

/** 2xx is success. A redirect is a failure like others: a receiver that has moved changes the endpoint. */
function judge(outcome: PostOutcome): Attempted["verdict"] {
  if (outcome.kind !== "answered") return "failed";
  if (outcome.status >= 200 && outcome.status < 300) return "delivered";
  return outcome.status === 410 ? "gone" : "failed";
}

function decideNext(
  deps: AttemptDeps,
  verdict: Attempted["verdict"],
  number: number,
  outcome: PostOutcome,
): AttemptResult["next"] {
  const nowMs = deps.now();
  const at = new Date(nowMs);
  if (verdict === "delivered") return { state: "delivered", at };
  if (verdict === "gone") return { state: "exhausted", at };
  const wished = outcome.kind === "answered" ? outcome.retryAfter : undefined;
  const failed = { number, retryAfterMs: readRetryAfterMs(wished, nowMs) };
  const delayMs = delayAfter(failed, deps.retryDelaysMs, deps.random());
  return delayMs === undefined
    ? { state: "exhausted", at }
    : { state: "pending", dueAt: new Date(nowMs + delayMs) };
}

function describe(outcome: PostOutcome, startedMs: number): DeliveryAttempt {
  const isAnswered = outcome.kind === "answered";
  return {
    at: new Date(startedMs).toISOString(),
    latencyMs: outcome.latencyMs,
    status: isAnswered ? outcome.status : null,
    error: isAnswered ? null : storable(outcome.reason),
    excerpt: isAnswered ? storable(outcome.excerpt) : null,
  };
}

/** PostgreSQL stores any string but one with a zero character, and JSON any but half a surrogate pair. */
function storable(text: string): string {
  return text.replaceAll("\u0000", "\ufffd").toWellFormed();
}
