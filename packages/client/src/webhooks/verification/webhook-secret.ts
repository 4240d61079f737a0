import { fromBase64 } from "../../encoding/base64.js";
import { WebhookError } from "./webhook-error.js";

/** The bytes of a secret of the form `whsec_…`. */
function readSecret(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/.exec(typeof secret === "string" ? secret : "")?.[1];
  const bytes = encoded === undefined ? undefined : fromBase64(encoded);
  if (bytes === undefined || bytes.length < 24 || bytes.length > 64)
    throw new WebhookError(
      "malformed_secret",
      "A secret of a webhook endpoint begins with whsec_, followed by 24 to 64 bytes in base64. It was shown when the endpoint was created.",
    );
  return bytes;
}

/** Refuses secrets with which no delivery can be verified. */
export function checkSecrets(secrets: readonly string[]): void {
  if (secrets.length === 0)
    throw new WebhookError("malformed_secret", "The receiver needs the secret of its webhook endpoint.");
  for (const secret of secrets) readSecret(secret);
}

const algorithm = { name: "HMAC", hash: "SHA-256" };

/** Verifies and makes signatures with one secret; the platform compares them in constant time. */
export interface HmacKey {
  verify: (signature: Uint8Array<ArrayBuffer>, content: Uint8Array<ArrayBuffer>) => Promise<boolean>;
  sign: (content: Uint8Array<ArrayBuffer>) => Promise<Uint8Array>;
}

export async function importSecret(secret: string): Promise<HmacKey> {
  const bytes = readSecret(secret);
  const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["sign", "verify"]);
  return {
    verify: (signature, content) => crypto.subtle.verify("HMAC", key, signature, content),
    sign: async (content) => new Uint8Array(await crypto.subtle.sign("HMAC", key, content)),
  };
}
