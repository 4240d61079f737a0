import { createHash, timingSafeEqual } from "node:crypto";
import type { ClientSecret } from "./client.js";

const prefix = "bsk_";
const secretBytes = 32;

/** No secret has this hash; it is compared with when a client has no secrets. */
const noHash = new Uint8Array(32);

export function newSecret(randomBytes: (count: number) => Uint8Array): string {
  return prefix + Buffer.from(randomBytes(secretBytes)).toString("base64url");
}

/** A secret has 256 random bits, so one round of SHA-256 is enough: a brute-force search is not feasible. */
export function hashSecret(secret: string): Uint8Array {
  return createHash("sha256").update(secret).digest();
}

/** Takes the same time whether the client exists, has secrets, or has this one. */
export function matchesSecret(secrets: readonly ClientSecret[], given: string, nowMs: number): boolean {
  const givenHash = hashSecret(given);
  let matches = false;
  for (const secret of secrets.length === 0 ? [undefined] : secrets) {
    const isEqual = timingSafeEqual(givenHash, secret?.hash ?? noHash);
    const isLive = secret !== undefined && (secret.expiresAt === null || secret.expiresAt.getTime() > nowMs);
    matches = (isEqual && isLive) || matches;
  }
  return matches;
}
