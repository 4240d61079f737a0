import type { AuditDraft } from "../audit/audit-entry.js";
import type { Earlier, IdempotentRequest } from "../requests/idempotency.js";
import type { Refused } from "../requests/refused.js";

/** Why an endpoint gets nothing: its owner wants it so, the receiver said that it is gone, or it has failed for too long. */
export type DisabledReason = "requested" | "gone" | "failing";

/** Where a tenant wants to be told of events. */
export interface WebhookEndpoint {
  tenantId: string;
  id: string;
  url: string;
  /** The kinds of events; `*` is all. */
  events: readonly string[];
  description: string | null;
  /** A deleted one is seen only by who deletes it. */
  state: "enabled" | "disabled" | "deleted";
  disabledReason: DisabledReason | null;
  disabledAt: Date | null;
  /** Since when nothing has arrived there; null where the last attempt has. */
  failingSince: Date | null;
  secrets: EndpointSecrets;
  /** Counts the changes that its owner, or the service, has made to it. */
  version: number;
  createdAt: Date;
  updatedAt: Date;
}

/** Sealed. Both sign until the old one's time is over. */
export interface EndpointSecrets {
  current: Uint8Array;
  old: { sealed: Uint8Array; until: Date } | null;
}

/** What a change does to an endpoint; what is left out stays as it is. */
export type EndpointChange = Partial<
  Pick<WebhookEndpoint, "url" | "events" | "description" | "secrets"> & {
    state: { to: "enabled" } | { to: "disabled"; reason: DisabledReason } | { to: "deleted" };
  }
>;

export interface EndpointStore {
  /** Creates it with its audit entry, or finds the one that an earlier request with the same key has created. */
  createEndpoint: (
    endpoint: WebhookEndpoint,
    request: IdempotentRequest | undefined,
    audit: AuditDraft,
    endpointsMax: number,
  ) => Promise<{ created: WebhookEndpoint } | Earlier<WebhookEndpoint> | "too_many">;
  readEndpoint: (tenantId: string, id: string) => Promise<WebhookEndpoint | undefined>;
  /** Newest first; `beforeId` is the last id of the page before. */
  listEndpoints: (
    tenantId: string,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<WebhookEndpoint[]>;
  /**
   * Locks it, asks what to do and does it, with its audit entry where a client asked for it and its event where it was disabled;
   * undefined where the tenant has no such endpoint.
   */
  changeEndpoint: (
    tenantId: string,
    id: string,
    decide: (endpoint: WebhookEndpoint) => EndpointChange | Refused,
    occurredAt: Date,
    audit: AuditDraft | undefined,
  ) => Promise<WebhookEndpoint | Refused | undefined>;
}
