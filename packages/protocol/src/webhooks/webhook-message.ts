import { arrayBufferToBase64 } from "structured-headers";
import { readContentDigest } from "../signing/content-digest.js";
import { readSignature, signatureBase } from "../signing/signature-base.js";
import {
  checkTimestamp,
  isEqualInConstantTime,
  notVerified,
  type Verification,
  type VerificationClock,
  verified,
} from "./verification.js";
import type { WebhookHashes } from "./webhook-hashes.js";

/** Signatures of webhooks as HTTP Message Signatures (RFC 9421) with HMAC-SHA-256, over the digest of the body (RFC 9530). */

export interface WebhookMessage {
  id: string;
  timestampSeconds: number;
  body: string;
  /** The live secrets; each signs under its own label, starting with `sig1`. */
  keys: readonly WebhookKey[];
}

export interface WebhookKey {
  /** Of `webhookKeyId`. During a rotation the two secrets need different ones, or a library tries the wrong secret. */
  keyId: string;
  secret: Uint8Array;
}

export interface WebhookMessageHeaders {
  "content-digest": string;
  "signature-input": string;
  signature: string;
}

const covered = ["content-digest", "webhook-id", "webhook-timestamp"];
const coveredList = `(${covered.map((name) => `"${name}"`).join(" ")})`;
const labels = ["sig1", "sig2"] as const;

export function signWebhookMessage(
  { id, timestampSeconds, body, keys }: WebhookMessage,
  hashes: WebhookHashes,
): WebhookMessageHeaders {
  const digest = `sha-256=:${hashes.sha256(body)}:`;
  const headers = {
    "content-digest": digest,
    "webhook-id": id,
    "webhook-timestamp": `${timestampSeconds}`,
  };
  const signed = labels.flatMap((label, index) => {
    const key = keys[index];
    if (key === undefined) return [];
    const params = `${coveredList};created=${timestampSeconds};keyid="${key.keyId}";alg="hmac-sha256"`;
    const base = signatureBase(covered, params, messageOf(headers));
    if (base === undefined) throw new Error("a webhook lacks a header that its signature covers");
    return [{ input: `${label}=${params}`, signature: `${label}=:${hashes.hmacSha256(key.secret, base)}:` }];
  });
  return {
    "content-digest": digest,
    "signature-input": signed.map(({ input }) => input).join(", "),
    signature: signed.map(({ signature }) => signature).join(", "),
  };
}

export interface ReceivedWebhookMessage {
  /** By their names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
  secrets: readonly Uint8Array[];
}

/** Verifies a delivery as a receiver does: one valid signature that covers all required headers is enough. */
export function verifyWebhookMessage(
  { headers, body, secrets }: ReceivedWebhookMessage,
  clock: VerificationClock,
  hashes: WebhookHashes,
): Verification {
  const time = checkTimestamp(headers["webhook-timestamp"] ?? "", clock);
  if (!time.verified) return time;
  const digest = readContentDigest(headers["content-digest"] ?? "")?.get("sha-256");
  if (digest === undefined || arrayBufferToBase64(Uint8Array.from(digest).buffer) !== hashes.sha256(body)) {
    return notVerified("content-digest does not match the body");
  }
  const isGood = labels.some((label) => isSignedUnder(label, headers, secrets, hashes));
  return isGood ? verified : notVerified("signature does not match any known secret");
}

function isSignedUnder(
  label: string,
  headers: ReceivedWebhookMessage["headers"],
  secrets: readonly Uint8Array[],
  hashes: WebhookHashes,
): boolean {
  const found = readSignature(headers["signature-input"] ?? "", headers["signature"] ?? "", label);
  if (found === undefined || !covered.every((name) => found.components.includes(name))) return false;
  const base = signatureBase(found.components, found.params, messageOf(headers));
  if (base === undefined) return false;
  const given = arrayBufferToBase64(Uint8Array.from(found.signature).buffer);
  return secrets.some((secret) => isEqualInConstantTime(hashes.hmacSha256(secret, base), given));
}

/** Only headers are covered; the URL of the delivery is not signed. */
function messageOf(headers: Readonly<Record<string, string | undefined>>) {
  return { method: "POST", targetUri: "", header: (name: string) => headers[name] };
}
