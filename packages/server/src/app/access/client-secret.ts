import { createHash, timingSafeEqual } from "node:crypto";
import type { ClientSecret } from "./client.js";

const prefix = "bsk_";
const secretBytes = 32;

/** What no secret hashes to, to compare with where there is no secret. */
const noHash = new Uint8Array(32);

export function newSecretText(randomBytes: (count: number) => Uint8Array): string {
  return prefix + Buffer.from(randomBytes(secretBytes)).toString("base64url");
}

/** A secret has 256 random bits, so one round of SHA-256 is enough: nobody can try them all. */
export function hashSecret(text: string): Uint8Array {
  return createHash("sha256").update(text).digest();
}

/** Takes the same time whether the client exists, has secrets, or has this one. */
export function matchesSecret(secrets: readonly ClientSecret[], text: string, nowMs: number): boolean {
  const given = hashSecret(text);
  let matches = false;
  for (const secret of secrets.length === 0 ? [undefined] : secrets) {
    const isEqual = timingSafeEqual(given, secret?.hash ?? noHash);
    const isLive = secret !== undefined && (secret.expiresAt === null || secret.expiresAt.getTime() > nowMs);
    matches = (isEqual && isLive) || matches;
  }
  return matches;
}
