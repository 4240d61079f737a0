import {
  checkTimestamp,
  isEqualInConstantTime,
  notVerified,
  type Verification,
  type VerificationClock,
  verified,
} from "./verification.js";
import type { WebhookHashes } from "./webhook-hashes.js";

/** Signatures as the Standard Webhooks specification describes them: HMAC-SHA-256 over `id.timestamp.body`. */

export interface StandardWebhook {
  /** The value of `webhook-id`. */
  id: string;
  /** The value of `webhook-timestamp`: when this attempt was signed. */
  timestampSeconds: number;
  body: string;
  /** The live secrets: one, or two during a rotation. */
  secrets: readonly Uint8Array[];
}

const version = "v1";

/** The value of `webhook-signature`: one signature for each live secret. */
export function signStandardWebhook(
  { id, timestampSeconds, body, secrets }: StandardWebhook,
  hashes: WebhookHashes,
): string {
  const content = `${id}.${timestampSeconds}.${body}`;
  return secrets.map((secret) => `${version},${hashes.hmacSha256(secret, content)}`).join(" ");
}

export interface ReceivedStandardWebhook {
  id: string;
  timestamp: string;
  signature: string;
  body: string;
  secrets: readonly Uint8Array[];
}

/** The maximum number of signatures of a delivery that are checked. */
const signaturesMax = 10;

/** Verifies a delivery as a receiver does: one signature by any known secret is enough. */
export function verifyStandardWebhook(
  { id, timestamp, signature, body, secrets }: ReceivedStandardWebhook,
  clock: VerificationClock,
  hashes: WebhookHashes,
): Verification {
  const time = checkTimestamp(timestamp, clock);
  if (!time.verified) return time;
  const content = `${id}.${timestamp}.${body}`;
  const given = signature
    .split(" ")
    .slice(0, signaturesMax)
    .flatMap((entry) => (entry.startsWith(`${version},`) ? [entry.slice(version.length + 1)] : []));
  const expected = secrets.map((secret) => hashes.hmacSha256(secret, content));
  return expected.some((ours) => given.some((theirs) => isEqualInConstantTime(ours, theirs)))
    ? verified
    : notVerified("webhook-signature does not match any known secret");
}
