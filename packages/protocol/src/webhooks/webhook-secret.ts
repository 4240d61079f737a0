import { arrayBufferToBase64, base64ToArrayBuffer } from "structured-headers";
import type { WebhookHashes } from "./webhook-hashes.js";

/** The format of a Standard Webhooks secret: a prefix that secret scanners recognise, and base64. */
const prefix = "whsec_";
const bytesMin = 24;
const bytesMax = 64;
const lengthMax = prefix.length + Math.ceil(bytesMax / 3) * 4;

/** The bytes of a secret; undefined if the string is not one. */
export function parseWebhookSecret(secret: string): Uint8Array | undefined {
  if (secret.length > lengthMax || !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return undefined;
  const encoded = secret.slice(prefix.length);
  if (encoded.length % 4 !== 0) return undefined;
  const bytes = new Uint8Array(base64ToArrayBuffer(encoded));
  if (bytes.length < bytesMin || bytes.length > bytesMax) return undefined;
  // The last character can carry unused bits; only the canonical encoding is accepted.
  return formatWebhookSecret(bytes) === secret ? bytes : undefined;
}

export function formatWebhookSecret(bytes: Uint8Array): string {
  return prefix + arrayBufferToBase64(Uint8Array.from(bytes).buffer);
}

const keyIdLength = 22;

/** The `keyid` of a secret. It is computed from the secret, so a receiver that has the secret knows it too. */
export function webhookKeyId(secret: Uint8Array, { hmacSha256 }: Pick<WebhookHashes, "hmacSha256">): string {
  const code = hmacSha256(secret, "keyid").replaceAll("+", "-").replaceAll("/", "_");
  return `whk_${code.slice(0, keyIdLength)}`;
}
