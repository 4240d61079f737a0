import type { AuditDraft } from "../audit/audit-entry.js";
import type { Earlier, IdempotentRequest } from "../requests/idempotency.js";
import type { Listed } from "../requests/listed.js";

/** One attempt to send an event to an endpoint, as it is recorded for the endpoint's owner. */
export interface DeliveryAttempt {
  at: string;
  latencyMs: number;
  /** The status of the response; null if there was none. */
  status: number | null;
  /** Why there was no response, or why nothing was sent; null if there was a response. */
  error: string | null;
  /** The first 1 KiB of the answer. */
  excerpt: string | null;
}

type DeliveryState = "pending" | "delivered" | "exhausted";

/** An event on its way to an endpoint, or what became of it. */
export interface Delivery {
  id: string;
  endpointId: string;
  sequence: number;
  event: string;
  state: DeliveryState;
  /** The delivery that this one sends again. */
  repeats: string | null;
  attempts: readonly DeliveryAttempt[];
  /** Null if it is final, or due at once. */
  nextAttemptAt: Date | null;
  finishedAt: Date | null;
}

export interface DeliveryFilter {
  endpointId?: string;
  event?: string;
  sequence?: number;
  state?: DeliveryState;
  createdAfter?: Date;
  createdBefore?: Date;
}

/** Which of the failed deliveries to send again. */
export type FailedFilter = Pick<DeliveryFilter, "endpointId" | "createdAfter" | "createdBefore">;

export interface DeliveryStore {
  readDelivery: (tenantId: string, id: string) => Promise<Delivery | undefined>;
  /** How many are waiting, of one endpoint or of all that are sent something; not counted beyond `max`. */
  countPending: (tenantId: string, endpointId: string | undefined, max: number) => Promise<number>;
  /** Newest first; `beforeId` is the last id of the page before. */
  listDeliveries: (
    tenantId: string,
    filter: DeliveryFilter,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Listed<Delivery>>;
}

/** A request to send again, with what makes it safe to repeat and what is written down of it. */
export interface ResendRequest {
  tenantId: string;
  action: string;
  request: IdempotentRequest | undefined;
  audit: AuditDraft;
}

/** The answer, or that of an earlier request with the same key. */
export type Resent<Answer> = { answer: Answer } | Earlier<Answer>;

/** Sends again: each delivery is a new one that says which one it repeats. All of it is one statement, and bounded. */
export interface ResendStore {
  /** Returns the id of the new delivery; undefined if there is none to repeat. */
  resendOne: (
    resend: ResendRequest,
    deliveryId: string,
  ) => Promise<Resent<{ delivery_id: string }> | undefined>;
  /** Sends the failed deliveries that were not sent again before, oldest first. */
  resendFailed: (
    resend: ResendRequest,
    filter: FailedFilter,
    limit: number,
  ) => Promise<Resent<{ resent: number }>>;
  /** Sends the events from a sequence on that the endpoint subscribes to; returns the sequence to continue from. */
  replayEvents: (
    resend: ResendRequest,
    endpointId: string,
    fromSequence: number,
    limit: number,
  ) => Promise<Resent<{ resent: number; next_sequence: number | null }>>;
}
