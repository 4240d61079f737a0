import { arrayBufferToBase64, base64ToArrayBuffer } from "structured-headers";

/** How Standard Webhooks writes a secret: a prefix, by which leaked ones are found, and base64. */
const prefix = "whsec_";
const bytesMin = 24;
const bytesMax = 64;
const lengthMax = prefix.length + Math.ceil(bytesMax / 3) * 4;

/** The bytes of a written secret; undefined where the text is none. */
export function parseWebhookSecret(text: string): Uint8Array | undefined {
  if (text.length > lengthMax || !/^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined;
  const encoded = text.slice(prefix.length);
  if (encoded.length % 4 !== 0) return undefined;
  const bytes = new Uint8Array(base64ToArrayBuffer(encoded));
  if (bytes.length < bytesMin || bytes.length > bytesMax) return undefined;
  // The last character can carry bits that belong to no byte; only one spelling of a secret is taken.
  return formatWebhookSecret(bytes) === text ? bytes : undefined;
}

export function formatWebhookSecret(bytes: Uint8Array): string {
  return prefix + arrayBufferToBase64(Uint8Array.from(bytes).buffer);
}
