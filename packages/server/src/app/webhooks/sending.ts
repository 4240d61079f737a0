import type { DeliveryAttempt } from "./delivery.js";
import type { WebhookEndpoint } from "./endpoint.js";

/** What a sender needs of the store. Nothing here holds a transaction open while something is sent. */
export interface SendingStore {
  /**
   * Takes the endpoints that nobody sends to and where something is due, so that no other process sends there until the lease
   * is over. `any` looks at those of all tenants.
   */
  leaseEndpoints: (options: {
    holder: string;
    tenantIds: readonly string[] | "any";
    now: Date;
    leaseMs: number;
    limit: number;
  }) => Promise<Lease[]>;
  /** Gives back the leases that still are what they were, for another while, and their endpoints as they are now. */
  renewLeases: (leases: readonly LeaseKey[], leaseMs: number) => Promise<Lease[]>;
  releaseLeases: (leases: readonly LeaseKey[]) => Promise<void>;
  /** What is due at these endpoints, first attempts in the order of the log. */
  readDue: (wanted: readonly DueWish[], now: Date) => Promise<DueDelivery[]>;
  /** Writes down what came of attempts, as far as their leases still hold. */
  recordResults: (results: readonly AttemptResult[], health: readonly HealthChange[]) => Promise<void>;
}

export interface LeaseKey {
  tenantId: string;
  endpointId: string;
  fence: string;
}

export interface Lease extends LeaseKey {
  endpoint: WebhookEndpoint;
}

export interface DueWish {
  tenantId: string;
  endpointId: string;
  /** The last sequence of which a first attempt was taken; there are none to find before it. */
  afterSequence: bigint;
  firstAttemptsMax: number;
  furtherAttemptsMax: number;
}

export interface DueDelivery {
  tenantId: string;
  endpointId: string;
  id: string;
  /** Of the event that it tells of. */
  sequence: bigint;
  attempts: number;
  /** Whether it stands in the queue of first attempts, which keep their order. */
  isFirst: boolean;
}

export interface AttemptResult {
  /** Under which it was sent. */
  lease: LeaseKey;
  deliveryId: string;
  attempt: DeliveryAttempt;
  next: { state: "delivered" | "exhausted"; at: Date } | { state: "pending"; dueAt: Date };
}

/** Since when an endpoint has been failing, where that has changed. */
export interface HealthChange {
  tenantId: string;
  endpointId: string;
  failingSince: Date | null;
}
