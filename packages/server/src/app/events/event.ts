type EventKind =
  | "transaction.updated"
  | "wallet.updated"
  | "order.updated"
  | "endpoint.disabled"
  | "change_request.updated"
  | "audit.checkpoint";

/** One row of the log: the kind of change and the new state. The event's body is built from this row and its subject. */
export interface LoggedEvent {
  sequence: number;
  event: EventKind;
  subjectId: string;
  version: number;
  state: string;
  previousState: string;
  /** The reason of a failure; for an endpoint, the reason why it was disabled. */
  failureCode: string | null;
  /** Changes besides the state, in a format that depends on the kind of subject. */
  details?: unknown;
  occurredAt: Date;
  /** The client that caused it, or the operator; null if the service did. See `actor.ts`. */
  actorId?: string | null;
}

export interface EventStore {
  /** Returns events in the order of their sequences. */
  listEvents: (tenantId: string, after: number, limit: number) => Promise<LoggedEvent[]>;
}

/** Which events of a log are asked for. */
export interface EventQuery {
  /** Only after this sequence. */
  after: number;
  /** Only before this sequence. */
  before?: number;
  isNewestFirst: boolean;
  kinds?: readonly EventKind[];
  subjectId?: string;
  limit: number;
}

/** Finds events of a log that match a query, in the order that it asks for. */
export interface EventSearch {
  /** `scannedTo` is set if the search has ended at its bound before the page was full. */
  findEvents: (
    tenantId: string,
    query: EventQuery,
  ) => Promise<{ events: LoggedEvent[]; scannedTo: number | undefined }>;
}

/** Looks up events by their sequence. */
export interface EventReader {
  /** Returns events in the order of their sequences; events that do not exist are left out. */
  readEvents: (tenantId: string, sequences: readonly number[]) => Promise<LoggedEvent[]>;
}

/** The first and last sequences of the logs. */
export interface EventPositions {
  /** The last sequence of each tenant; a tenant without events has no entry. */
  readHeads: (tenantIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** The oldest sequence that is still in the log. */
  readOldest: (tenantId: string) => Promise<number | undefined>;
  /** The lost range that a sequence is in; undefined if it is in none. */
  findLost: (tenantId: string, sequence: number) => Promise<LostRange | undefined>;
  /** The lost range that begins right after a sequence; undefined if there is none. */
  findLostAfter: (tenantId: string, sequence: number) => Promise<LostRange | undefined>;
}

/** Sequences that no event has, because a recovery has skipped those that had been used before a restore. */
export interface LostRange {
  /** The last sequence before them. */
  kept: number;
  /** The last of them. */
  lifted: number;
}

/**
 * Parses a sequence that a client sent. Sequences are numbers: a log of 2^53 events takes 285,000 years at a thousand a second, so a
 * larger value is treated as the largest safe integer.
 */
export function readSequence(named: number): number {
  return Math.min(named, Number.MAX_SAFE_INTEGER);
}
