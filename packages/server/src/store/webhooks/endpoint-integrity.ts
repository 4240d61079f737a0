import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { WebhookEndpoint } from "../../app/webhooks/endpoint.js";
import { isRowAuthentic, macOfRow, type RowMac } from "../access/row-integrity.js";

/*
 * A MAC covers everything that decides what is sent where, and with which secret it is signed. A writer to the database can change the row,
 * insert one, or copy one to another tenant, but the service sends nothing to such an endpoint and signs nothing with its secret. Not covered
 * is what only describes it, and since when it has been failing, which the sender writes.
 */

/** What the MAC covers. */
export type SealedEndpoint = Pick<
  WebhookEndpoint,
  | "tenantId"
  | "id"
  | "url"
  | "events"
  | "state"
  | "verifiedAt"
  | "authority"
  | "secrets"
  | "createdBy"
  | "version"
>;

export function macOfEndpoint(keys: IntegrityKeys, endpoint: SealedEndpoint): { keyId: string; mac: Buffer } {
  return macOfRow(keys, "webhook endpoint", fieldsOf(endpoint));
}

/** A row without a MAC, also one from before there were any, is refused: a writer could remove it. */
export function isEndpointAuthentic(keys: IntegrityKeys, endpoint: SealedEndpoint, mac: RowMac): boolean {
  return isRowAuthentic(keys, "webhook endpoint", fieldsOf(endpoint), mac);
}

function fieldsOf(endpoint: SealedEndpoint): (string | null)[] {
  const { authority, secrets } = endpoint;
  return [
    ...["webhook endpoint", endpoint.tenantId, endpoint.id, endpoint.url, JSON.stringify(endpoint.events)],
    ...[endpoint.state, timeOf(endpoint.verifiedAt), `${endpoint.version}`, endpoint.createdBy],
    ...[authority?.clientId ?? null, authority === null ? null : JSON.stringify(authority.scopes)],
    ...[base64(secrets.current), base64(secrets.old?.sealed), timeOf(secrets.old?.until)],
  ];
}

function timeOf(time: Date | null | undefined): string | null {
  return time === null || time === undefined ? null : `${time.getTime()}`;
}

function base64(sealed: Uint8Array | undefined): string | null {
  return sealed === undefined ? null : Buffer.from(sealed).toString("base64");
}
