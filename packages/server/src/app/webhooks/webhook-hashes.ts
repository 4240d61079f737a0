import { createHash, createHmac } from "node:crypto";
import type { WebhookHashes } from "@bursar/protocol";

/** Node's own hashes, for signing and checking webhooks. */
export const webhookHashes: WebhookHashes = {
  sha256: (text) => createHash("sha256").update(text).digest("base64"),
  hmacSha256: (secret, text) => createHmac("sha256", secret).update(text).digest("base64"),
};
