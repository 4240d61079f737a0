import { fromBase64, toBase64 } from "../../encoding/base64.js";
import { sha256 } from "../../encoding/hashes.js";
import { readDigest, readSignatures } from "./message-signature.js";
import type { Notification } from "./notification.js";
import { WebhookError } from "./webhook-error.js";
import { type HmacKey, importSecret } from "./webhook-secret.js";

/** Headers as `fetch`, Node and the frameworks have them. */
export type WebhookHeaders =
  | { get: (name: string) => string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ReceivedWebhook {
  headers: WebhookHeaders;
  /** The body as it was received. A parsed body cannot be verified: it is not what was signed. */
  rawBody: string | Uint8Array | ArrayBuffer;
  /** The live secrets of the endpoint: one, or two during a rotation. */
  secrets: readonly string[];
  /** How far the time of signing may be from now. Defaults to 300. */
  toleranceSeconds?: number | undefined;
  /** Defaults to the clock. */
  nowMs?: number | undefined;
}

const toleranceSecondsDefault = 300;
const signaturesMax = 10;

/**
 * Verifies a delivery by either of its signatures, Standard Webhooks or RFC 9421, and returns its body. Throws a `WebhookError` whose
 * `reason` is one of a closed list.
 */
export async function verifyWebhook(received: ReceivedWebhook): Promise<Notification> {
  const body = bytesOf(received.rawBody);
  const keys = await Promise.all(received.secrets.map(importSecret));
  const header = headerReader(received.headers);
  const id = header("webhook-id");
  const timestamp = header("webhook-timestamp");
  const hasMessageSignature = ["signature", "signature-input", "content-digest"].every(
    (name) => header(name) !== undefined,
  );
  if (
    id === undefined ||
    timestamp === undefined ||
    (header("webhook-signature") === undefined && !hasMessageSignature)
  )
    throw new WebhookError(
      "missing_header",
      "The request lacks webhook-id, webhook-timestamp or a signature.",
    );
  checkTime(timestamp, received);
  const isGenuine =
    (await hasStandardSignature(header("webhook-signature") ?? "", `${id}.${timestamp}.`, body, keys)) ||
    (await hasRequestSignature(header, body, keys));
  if (!isGenuine)
    throw new WebhookError("no_matching_signature", "No signature matches the body and a known secret.");
  return readNotification(body, id);
}

function checkTime(timestamp: string, { toleranceSeconds, nowMs }: ReceivedWebhook): void {
  if (!/^\d{1,12}$/.test(timestamp))
    throw new WebhookError("malformed", "webhook-timestamp is not a number of seconds.");
  const ageSeconds = (nowMs ?? Date.now()) / 1000 - Number(timestamp);
  const tolerance = toleranceSeconds ?? toleranceSecondsDefault;
  if (ageSeconds > tolerance)
    throw new WebhookError("too_old", `The webhook was signed ${Math.round(ageSeconds)} s ago.`);
  if (-ageSeconds > tolerance)
    throw new WebhookError(
      "from_the_future",
      `The webhook is dated ${Math.round(-ageSeconds)} s in the future.`,
    );
}

async function hasStandardSignature(
  signatures: string,
  start: string,
  body: Uint8Array<ArrayBuffer>,
  keys: readonly HmacKey[],
): Promise<boolean> {
  const given = signatures
    .split(" ")
    .slice(0, signaturesMax)
    .flatMap((entry) => (entry.startsWith("v1,") ? (fromBase64(entry.slice(3)) ?? []) : []))
    .filter((signature) => signature instanceof Uint8Array);
  const content = concat(new TextEncoder().encode(start), body);
  return await anyOf(keys.flatMap((key) => given.map((signature) => key.verify(signature, content))));
}

async function hasRequestSignature(
  header: (name: string) => string | undefined,
  body: Uint8Array<ArrayBuffer>,
  keys: readonly HmacKey[],
): Promise<boolean> {
  const digest = readDigest(header("content-digest") ?? "");
  if (digest === undefined || digest !== toBase64(await sha256(body))) return false;
  const signatures = readSignatures(header).slice(0, signaturesMax);
  const encoder = new TextEncoder();
  return await anyOf(
    keys.flatMap((key) =>
      signatures.map(({ signature, base }) => key.verify(signature, encoder.encode(base))),
    ),
  );
}

async function anyOf(checks: readonly Promise<boolean>[]): Promise<boolean> {
  return (await Promise.all(checks)).includes(true);
}

function readNotification(body: Uint8Array, id: string): Notification {
  let value: Partial<Notification> | null;
  try {
    value = JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(body),
    ) as Partial<Notification> | null;
  } catch {
    throw new WebhookError("malformed", "The body is not JSON.");
  }
  const isWebhook =
    typeof value === "object" &&
    value !== null &&
    typeof value.event === "string" &&
    value.delivery_id === id &&
    (value.sequence === null || Number.isSafeInteger(value.sequence)) &&
    typeof value.data === "object" &&
    value.data !== null;
  if (!isWebhook)
    throw new WebhookError("malformed", "The body is not that of a webhook, or has another id.");
  return value as Notification;
}

function headerReader(headers: WebhookHeaders): (name: string) => string | undefined {
  if (typeof (headers as Headers).get === "function")
    return (name) => (headers as Headers).get(name) ?? undefined;
  const byName = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value as unknown]),
  );
  return (name) => {
    const value = byName.get(name);
    return Array.isArray(value) ? value.join(", ") : typeof value === "string" ? value : undefined;
  };
}

function bytesOf(rawBody: unknown): Uint8Array<ArrayBuffer> {
  if (typeof rawBody === "string") return new TextEncoder().encode(rawBody);
  if (rawBody instanceof ArrayBuffer) return new Uint8Array(rawBody);
  if (rawBody instanceof Uint8Array) return Uint8Array.from(rawBody);
  throw new WebhookError(
    "body_already_parsed",
    "rawBody must be the bytes that were received. A JSON parser has probably read the body before: give this route the raw body.",
  );
}

function concat(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
