import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type IntegrityKeys, requireKey } from "../access/integrity-keys.js";
import { type ClientSecret, isLive } from "./client.js";

const prefix = "bsk_";
const secretBytes = 32;

export function newSecret(randomBytes: (count: number) => Uint8Array): string {
  return prefix + Buffer.from(randomBytes(secretBytes)).toString("base64url");
}

/**
 * A secret is stored as an HMAC of its SHA-256, so that a hash cannot be made without the master key. A secret has 256 random bits, so one
 * round is enough: a brute-force search is not feasible.
 */
export function hashSecret(keys: IntegrityKeys, secret: string): Pick<ClientSecret, "hash" | "keyId"> {
  return { hash: keyDigest(requireKey(keys, "client secret"), digestSecret(secret)), keyId: keys.currentId };
}

/** Keys the plain SHA-256 that earlier versions have stored. */
export function keyDigest(key: Uint8Array, digest: Uint8Array): Uint8Array {
  return createHmac("sha256", key).update(digest).digest();
}

function digestSecret(secret: string): Uint8Array {
  return createHash("sha256").update(secret).digest();
}

/** No secret has this hash; it is compared with when a client has no secrets. */
const noSecret = { id: "", hash: new Uint8Array(32), expiresAt: new Date(0) };

/** The id of the secret that was given, if it is live. Takes the same time whether the client exists, has secrets, or has this one. */
export function matchSecret(
  keys: IntegrityKeys,
  secrets: readonly ClientSecret[],
  given: string,
  nowMs: number,
): string | undefined {
  const digest = digestSecret(given);
  let match: string | undefined;
  for (const secret of secrets.length === 0 ? [{ ...noSecret, keyId: keys.currentId }] : secrets) {
    const key = keys.derive("client secret", secret.keyId) ?? requireKey(keys, "client secret");
    if (timingSafeEqual(keyDigest(key, digest), secret.hash) && isLive(secret, nowMs)) match = secret.id;
  }
  return match;
}
