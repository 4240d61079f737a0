/** What can be told of. Orders will be, when there are markets. */
type EventKind = "transaction.updated" | "wallet.updated" | "endpoint.disabled";

/** One row of the log: what has changed, and to which state. Its body is built from this and what the subject is. */
export interface LoggedEvent {
  sequence: bigint;
  event: EventKind;
  subjectId: string;
  version: number;
  state: string;
  previousState: string;
  /** Why it failed; for an endpoint, why it was disabled. */
  failureCode: string | null;
  occurredAt: Date;
}

export interface EventStore {
  /** In order of their sequence. */
  listEvents: (tenantId: string, after: bigint, limit: number) => Promise<LoggedEvent[]>;
}
