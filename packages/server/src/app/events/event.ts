type EventKind = "transaction.updated" | "wallet.updated" | "order.updated" | "endpoint.disabled";

/** One row of the log: what has changed, and to which state. Its body is built from this and what the subject is. */
export interface LoggedEvent {
  sequence: number;
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
  listEvents: (tenantId: string, after: number, limit: number) => Promise<LoggedEvent[]>;
}

/** Events by their place in the log. */
export interface EventReader {
  /** In order of their sequence; those that do not exist are left out. */
  readEvents: (tenantId: string, sequences: readonly number[]) => Promise<LoggedEvent[]>;
}

/** The ends of the logs. */
export interface EventPositions {
  /** The last sequence of each tenant; a tenant without events is not in it. */
  readHeads: (tenantIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** The oldest sequence that is still in the log. */
  readOldest: (tenantId: string) => Promise<number | undefined>;
}

/**
 * A sequence that a client has named. Sequences are numbers: a log of 2^53 events takes 285,000 years at a thousand a second, so a greater
 * number means the same as the greatest that is exact.
 */
export function readSequence(named: number): number {
  return Math.min(named, Number.MAX_SAFE_INTEGER);
}
