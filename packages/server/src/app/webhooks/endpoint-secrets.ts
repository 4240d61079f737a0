import { formatWebhookSecret, type WebhookKey, webhookKeyId } from "@bursar/protocol";
import type { WebhookEndpoint } from "./endpoint.js";
import { webhookHashes } from "./webhook-hashes.js";

/** Seals the secrets of endpoints for the store, and opens them for signing. */
export interface SecretBox {
  seal: (endpoint: OfEndpoint, secret: Uint8Array) => Uint8Array;
  open: (endpoint: OfEndpoint, sealed: Uint8Array) => Uint8Array;
}

/** What a secret is bound to: the same endpoint of another tenant cannot have it. */
type OfEndpoint = Pick<WebhookEndpoint, "tenantId" | "id">;

/** The length that Standard Webhooks recommends. */
export const secretBytes = 32;

/** A secret as it is shown, once, with the id that its signatures name. */
export interface ShownSecret {
  secret: string;
  keyId: string;
}

export function showSecret(secret: Uint8Array): ShownSecret {
  return { secret: formatWebhookSecret(secret), keyId: webhookKeyId(secret, webhookHashes) };
}

/** Opens a sealed secret for signing. */
export type OpenKey = (endpoint: OfEndpoint, sealed: Uint8Array) => WebhookKey;

/**
 * Opens each sealed secret once for as long as its endpoint is held: an endpoint gets many deliveries in a row, and opening was a
 * tenth of what an attempt costs this process.
 */
export function rememberOpened({ open }: Pick<SecretBox, "open">): OpenKey {
  const opened = new WeakMap<Uint8Array, WebhookKey>();
  return (endpoint, sealed) => {
    const known = opened.get(sealed);
    if (known !== undefined) return known;
    const secret = open(endpoint, sealed);
    const key = { secret, keyId: webhookKeyId(secret, webhookHashes) };
    opened.set(sealed, key);
    return key;
  };
}

/** The secrets that sign now, the newest first. */
export function liveKeys(
  open: OpenKey,
  endpoint: Pick<WebhookEndpoint, "tenantId" | "id" | "secrets">,
  nowMs: number,
): WebhookKey[] {
  const { current, old } = endpoint.secrets;
  const sealed = old !== null && old.until.getTime() > nowMs ? [current, old.sealed] : [current];
  return sealed.map((one) => open(endpoint, one));
}
