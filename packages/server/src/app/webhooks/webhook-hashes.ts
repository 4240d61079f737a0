import { createHmac, hash } from "node:crypto";
import type { WebhookHashes } from "@bursar/protocol";

/** Node's own hashes, for signing and checking webhooks. */
export const webhookHashes: WebhookHashes = {
  sha256: (text) => hash("sha256", text, "base64"),
  hmacSha256: (secret, text) => createHmac("sha256", secret).update(text).digest("base64"),
};
