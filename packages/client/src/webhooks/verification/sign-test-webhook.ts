import { toBase64, toBase64Url } from "../../encoding/base64.js";
import { sha256 } from "../../encoding/hashes.js";
import type { Notification } from "./notification.js";
import { importSecret } from "./webhook-secret.js";

export interface TestWebhook {
  /** The body, with its `delivery_id`. Fields that your receiver does not read can be left out. */
  body: Notification | (Pick<Notification, "event" | "delivery_id"> & Record<string, unknown>);
  /** The secrets that sign it, as during a rotation. */
  secrets: readonly string[];
  /** Defaults to the clock. */
  nowMs?: number;
  /** Defaults to 1. */
  attempt?: number;
}

/** Signs a delivery as the service does, for the tests of a receiver. */
export async function signTestWebhook({
  body,
  secrets,
  nowMs = Date.now(),
  attempt = 1,
}: TestWebhook): Promise<{
  headers: Record<string, string>;
  rawBody: string;
}> {
  const encoder = new TextEncoder();
  const rawBody = JSON.stringify(body);
  const id = body.delivery_id;
  const timestamp = `${Math.floor(nowMs / 1000)}`;
  const digest = `sha-256=:${toBase64(await sha256(rawBody))}:`;
  const signed = await Promise.all(
    secrets.map(async (secret, at) => {
      const { sign } = await importSecret(secret);
      const keyId = `whk_${toBase64Url(await sign(encoder.encode("keyid"))).slice(0, 22)}`;
      const params = `("content-digest" "webhook-id" "webhook-timestamp");created=${timestamp};keyid="${keyId}";alg="hmac-sha256"`;
      const base = `"content-digest": ${digest}\n"webhook-id": ${id}\n"webhook-timestamp": ${timestamp}\n"@signature-params": ${params}`;
      return {
        standard: `v1,${toBase64(await sign(encoder.encode(`${id}.${timestamp}.${rawBody}`)))}`,
        input: `sig${at + 1}=${params}`,
        signature: `sig${at + 1}=:${toBase64(await sign(encoder.encode(base)))}:`,
      };
    }),
  );
  const headers = {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signed.map(({ standard }) => standard).join(" "),
    "webhook-attempt": `${attempt}`,
    "content-digest": digest,
    "signature-input": signed.map(({ input }) => input).join(", "),
    signature: signed.map(({ signature }) => signature).join(", "),
  };
  return { headers, rawBody };
}
