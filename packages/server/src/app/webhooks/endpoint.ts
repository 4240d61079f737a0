import type { AuditDraft } from "../audit/audit-entry.js";
import type { Earlier, IdempotentRequest } from "../requests/idempotency.js";
import type { Refused } from "../requests/refused.js";

/** Why an endpoint is disabled: a client requested it, the receiver answered 410 Gone, or it has failed for too long. */
export type DisabledReason = "requested" | "gone" | "failing";

/** A URL that a tenant has registered to receive events. */
export interface WebhookEndpoint {
  tenantId: string;
  id: string;
  url: string;
  /** The kinds of events; `*` is all. */
  events: readonly string[];
  description: string | null;
  /** A deleted endpoint is returned only by the request that deletes it. */
  state: "pending" | "enabled" | "disabled" | "deleted";
  /** When the receiver at the current URL answered a challenge. */
  verifiedAt: Date | null;
  authority: EndpointAuthority | null;
  disabledReason: DisabledReason | null;
  disabledAt: Date | null;
  /** Since when every attempt has failed; null if the last one succeeded. */
  failingSince: Date | null;
  secrets: EndpointSecrets;
  /** Counts the changes that its owner, or the service, has made to it. */
  version: number;
  /** The client that created it; null if the operator did, or if it is older than this field. */
  createdBy: string | null;
  createdAt: Date;
  updatedAt: Date;
  /** Whether something other than the service has written it. Nothing is sent to it, and it can only be deleted. */
  isTampered?: boolean;
  /** Whether the client that it acts for is disabled. What is caused meanwhile waits until the client is enabled, or another takes it over. */
  isClientDisabled?: boolean;
}

/** Whether anything is sent to it, if it is enabled. */
export function isServed({ isTampered, isClientDisabled }: WebhookEndpoint): boolean {
  return isTampered !== true && isClientDisabled !== true;
}

/**
 * On whose behalf an endpoint receives events: the client that named its URL last, with the scopes of that request, less those for kinds that
 * another client which has rotated the secret may not read. Null stands for the operator, who may read everything.
 */
export interface EndpointAuthority {
  clientId: string;
  scopes: readonly string[];
}

/** Encrypted. Both sign until the old one expires. */
export interface EndpointSecrets {
  current: Uint8Array;
  old: { sealed: Uint8Array; until: Date } | null;
}

/** What a change does to an endpoint; what is left out stays as it is. */
export type EndpointChange = Partial<
  Pick<WebhookEndpoint, "url" | "events" | "description" | "secrets" | "verifiedAt" | "authority"> & {
    state:
      | { to: "pending" }
      | { to: "enabled" }
      | { to: "disabled"; reason: DisabledReason }
      | { to: "deleted" };
  }
>;

/** What an earlier request has created, as far as the request itself does not say it. The endpoint may not exist any more. */
export interface CreatedEndpoint extends Pick<WebhookEndpoint, "id" | "createdBy" | "createdAt"> {
  clientId: string | null;
}

export interface EndpointStore {
  /** Creates it with its audit entry, or finds the one that an earlier request with the same key has created. */
  createEndpoint: (
    endpoint: WebhookEndpoint,
    request: IdempotentRequest | undefined,
    audit: AuditDraft,
    endpointsMax: number,
  ) => Promise<{ created: WebhookEndpoint } | Earlier<CreatedEndpoint> | "too_many">;
  readEndpoint: (tenantId: string, id: string) => Promise<WebhookEndpoint | undefined>;
  /** Newest first; `beforeId` is the last id of the page before. */
  listEndpoints: (
    tenantId: string,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<WebhookEndpoint[]>;
  /**
   * Locks it, asks what to do and does it, with its audit entry if a client asked for it and its event if it was disabled;
   * undefined if the tenant has no such endpoint.
   */
  changeEndpoint: (
    tenantId: string,
    id: string,
    decide: (endpoint: WebhookEndpoint) => EndpointChange | Refused,
    occurredAt: Date,
    audit: AuditDraft | undefined,
  ) => Promise<WebhookEndpoint | Refused | undefined>;
  /** As `changeEndpoint`, once for each key; if a request has used the key before, the endpoint as it is and the hash of that request. */
  changeEndpointOnce: (
    tenantId: string,
    id: string,
    decide: (endpoint: WebhookEndpoint) => EndpointChange | Refused,
    request: IdempotentRequest | undefined,
    audit: AuditDraft,
  ) => Promise<{ changed: WebhookEndpoint } | Earlier<WebhookEndpoint> | Refused | undefined>;
}
