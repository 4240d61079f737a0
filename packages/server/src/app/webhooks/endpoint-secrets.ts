import type { EndpointSecrets } from "./endpoint.js";

/** Seals the secrets of endpoints for the store, and opens them for signing. */
export interface SecretBox {
  seal: (endpointId: string, secret: Uint8Array) => Uint8Array;
  open: (endpointId: string, sealed: Uint8Array) => Uint8Array;
}

/** The length that Standard Webhooks recommends. */
export const secretBytes = 32;

/**
 * Opens each sealed secret once for as long as its endpoint is held: an endpoint gets many deliveries in a row, and opening was a
 * tenth of what an attempt costs this process.
 */
export function rememberOpened({ open }: Pick<SecretBox, "open">): Pick<SecretBox, "open"> {
  const opened = new WeakMap<Uint8Array, Uint8Array>();
  return {
    open: (endpointId, sealed) => {
      const secret = opened.get(sealed) ?? open(endpointId, sealed);
      opened.set(sealed, secret);
      return secret;
    },
  };
}

/** The secrets that sign now, the newest first. */
export function liveSecrets(
  box: Pick<SecretBox, "open">,
  endpointId: string,
  { current, old }: EndpointSecrets,
  nowMs: number,
): Uint8Array[] {
  const sealed = old !== null && old.until.getTime() > nowMs ? [current, old.sealed] : [current];
  return sealed.map((one) => box.open(endpointId, one));
}
