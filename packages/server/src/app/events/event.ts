/** What can be told of. */
type EventKind = "transaction.updated" | "wallet.updated" | "order.updated" | "endpoint.disabled";

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
  /** What has changed beside the state, in the form of the subject that it belongs to. */
  details?: unknown;
  occurredAt: Date;
}

export interface EventStore {
  /** In order of their sequence. */
  listEvents: (tenantId: string, after: bigint, limit: number) => Promise<LoggedEvent[]>;
}

/** Events by their place in the log. */
export interface EventReader {
  /** In order of their sequence; those that there are. */
  readEvents: (tenantId: string, sequences: readonly bigint[]) => Promise<LoggedEvent[]>;
}

/** How far the logs go, at both ends. */
export interface EventPositions {
  /** The last sequence of each tenant; one that nothing has happened to is not in it. */
  readHeads: (tenantIds: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;
  /** The oldest sequence that there still is. */
  readOldest: (tenantId: string) => Promise<bigint | undefined>;
}
