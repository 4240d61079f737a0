import type { IdempotentRequest } from "../access/client.js";
import type { AuditDraft } from "../audit/audit-entry.js";

/** An address that a tenant has said money may go to. */
export interface Destination {
  tenantId: string;
  id: string;
  label: string;
  network: string;
  /** In its canonical form. */
  address: string;
  note: string | null;
  clientId: string;
  createdAt: Date;
  /** It counts from here on. */
  effectiveAt: Date;
}

export interface DestinationFilter {
  network?: string;
  state?: "waiting" | "active";
}

export interface DestinationStore {
  /**
   * Lists it, with its audit entry; or finds the one that an earlier request with the same key has listed, be it removed since.
   * `taken`: the address is on the list already.
   */
  addDestination: (
    destination: Destination,
    request: IdempotentRequest | undefined,
    audit: AuditDraft,
  ) => Promise<{ added: Destination } | { earlier: Destination; requestHash: string } | "taken">;
  readDestination: (tenantId: string, id: string) => Promise<Destination | undefined>;
  /** Newest first; `beforeId` is the last id of the page before, and `now` tells those that wait from those that do not. */
  listDestinations: (
    tenantId: string,
    filter: DestinationFilter,
    now: Date,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Destination[]>;
  /** Takes it off the list, with its audit entry; false where it is not on it. */
  removeDestination: (tenantId: string, id: string, audit: AuditDraft) => Promise<boolean>;
}
