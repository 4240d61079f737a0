import type { Lease, LeaseStore } from "../../runtime/loops/lease.js";
import type { DeliveryAttempt } from "./delivery.js";
import type { WebhookEndpoint } from "./endpoint.js";

/** What a sender needs of the store. Nothing here holds an SQL transaction open while something is sent. */
export interface SendingStore {
  /**
   * Only endpoints that are enabled can be acquired or renewed; a lease carries its endpoint as it is at that moment. Also those that were
   * tampered with, or whose client is disabled, are acquired, so that a look at all tenants gets past them. Nothing is sent to them: their
   * leases expire, and they are looked at once in the length of a lease.
   */
  leases: LeaseStore<EndpointLease, WantedEndpoints>;
  /** What is due at these endpoints, first attempts in the order of the log. */
  readDue: (wanted: readonly DueRequest[], now: Date) => Promise<DueDelivery[]>;
  /** Records the outcomes of attempts, if their leases still hold. */
  recordResults: (results: readonly AttemptResult[], health: readonly HealthChange[]) => Promise<void>;
  /** Records on a delivery that the service itself could not send it or record its outcome; it is due again later. */
  recordFailure: (delivery: { tenantId: string; id: string }, error: unknown, now: Date) => Promise<void>;
}

/** The right to send to an endpoint. */
export interface EndpointLease extends Lease, EndpointKey {
  endpoint: WebhookEndpoint;
}

/** Names an endpoint. Ordered by the tenant, then by the endpoint. */
export interface EndpointKey {
  tenantId: string;
  endpointId: string;
}

/** Endpoints of these tenants, or of any, that have something due: those that have been failing, or the others. */
export interface WantedEndpoints {
  tenantIds: readonly string[] | "any";
  areFailing: boolean;
  dueBy: Date;
  limit: number;
  /** Only those after this one. Those of any tenant are acquired in the order of their keys. */
  after?: EndpointKey | undefined;
}

/** Names an endpoint among those of all tenants. */
export function endpointName({ tenantId, endpointId }: EndpointKey): string {
  return `${tenantId} ${endpointId}`;
}

export interface DueRequest {
  tenantId: string;
  endpointId: string;
  /** The last sequence of which a first attempt was taken; there are none before it. */
  afterSequence: number;
  firstAttemptsMax: number;
  furtherAttemptsMax: number;
}

export interface DueDelivery {
  tenantId: string;
  endpointId: string;
  id: string;
  /** The sequence of its event. */
  sequence: number;
  attempts: number;
  /** Whether it is in the queue of first attempts, which keep their order. */
  isFirst: boolean;
}

export interface AttemptResult {
  /** The lease under which it was sent. */
  lease: EndpointLease;
  deliveryId: string;
  attempt: DeliveryAttempt;
  next: { state: "delivered" | "exhausted"; at: Date } | { state: "pending"; dueAt: Date };
}

/** Since when an endpoint has been failing, if that has changed. */
export interface HealthChange {
  tenantId: string;
  endpointId: string;
  failingSince: Date | null;
}
