import type {
  ClaimedDelivery,
  ProcessResult,
  ReceiverStore,
  StoredDelivery,
} from "../receiver/receiver-store.js";
import {
  type DeliveryRow,
  deliveryColumns,
  deliveryTables,
  onKnownEpoch,
  readClaimed,
  readParked,
} from "./delivery-tables.js";

type SqliteValue = string | number | null;

/** The part of a handle of `better-sqlite3`, `node:sqlite` or `libsql` that the store uses. */
export interface SqliteHandle {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

/** These are methods, because the types of some libraries infer the parameters of a statement, and would not be equal to ours. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { changes: number | bigint };
  all(...values: SqliteValue[]): unknown[];
}

/** Creates the tables if they are missing, as `prepare` does. */
export const sqliteStoreSchema = deliveryTables;

/**
 * Keeps deliveries in your own SQLite file. The handler gets your handle inside the transaction that also marks the delivery, so what it
 * writes takes effect exactly once. It must not be async: while it waited, other writes with the same handle would become part of the
 * transaction, and writes with another handle would wait for it and stop the process. Several processes can share the file.
 */
export function createSqliteStore<Handle extends SqliteHandle>(
  handle: Handle,
): ReceiverStore<Handle> & { prepare: () => Promise<void> } {
  const statements = new Map<string, SqliteStatement>();

  function statement(sql: string): SqliteStatement {
    const known = statements.get(sql) ?? handle.prepare(sql);
    statements.set(sql, known);
    return known;
  }
  const all = (sql: string, ...values: SqliteValue[]) => statement(sql).all(...values) as DeliveryRow[];
  const run = (sql: string, ...values: SqliteValue[]) => Number(statement(sql).run(...values).changes);

  /** It locks the file for writing from the start, so that it cannot fail for that in the middle. */
  function inTransaction<Value>(work: () => Value): Value {
    handle.exec("BEGIN IMMEDIATE");
    try {
      const value = work();
      handle.exec("COMMIT");
      return value;
    } catch (error) {
      rollBack(handle);
      throw error;
    }
  }

  function process(id: string, work: (delivery: ClaimedDelivery, context: Handle) => unknown): ProcessResult {
    const [row] = all(
      `SELECT ${deliveryColumns} FROM bursar_deliveries WHERE delivery_id = ? AND state = 'pending'`,
      id,
    );
    if (row === undefined) return "settled";
    const delivery = readClaimed(row);
    const state = raiseVersion(delivery) ? "processed" : "stale";
    if (state === "processed") refusePromise(work(delivery, handle));
    run("UPDATE bursar_deliveries SET state = ?, error = NULL WHERE delivery_id = ?", state, id);
    return state;
  }

  /** Raises the newest version that was processed; false if that is as new already. */
  function raiseVersion({ subject, epoch, version }: StoredDelivery): boolean {
    if (subject === null || version === null) return true;
    const raised = run(
      `INSERT INTO bursar_subjects (subject, epoch, version) VALUES (?, ?, ?)
       ON CONFLICT (subject, epoch) DO UPDATE SET version = excluded.version WHERE version < excluded.version`,
      subject,
      epoch,
      version,
    );
    return raised > 0;
  }

  /** Read by bursar_deliveries_received. */
  function prune(beforeMs: number, limit: number): number {
    const rows = all(
      `SELECT delivery_id, epoch, sequence FROM bursar_deliveries
       WHERE received_at_ms < ? AND state IN ('processed', 'stale', 'skipped') ORDER BY received_at_ms LIMIT ?`,
      Math.floor(beforeMs),
      limit,
    );
    for (const { delivery_id, epoch, sequence } of rows) {
      raiseKnownTo(String(epoch), Number(sequence));
      run("DELETE FROM bursar_deliveries WHERE delivery_id = ?", String(delivery_id));
    }
    return rows.length;
  }

  function raiseKnownTo(epoch: string, sequence: number): void {
    run(`INSERT INTO bursar_epochs (epoch, known_to) VALUES (?, ?) ${onKnownEpoch}`, epoch, sequence);
  }

  return {
    isSynchronous: true,
    prepare: async () => {
      // Some builds of SQLite do not wait for the disk in WAL mode; a delivery that was answered must survive a power failure.
      handle.exec("PRAGMA synchronous = FULL");
      handle.exec(deliveryTables);
    },
    save: async ({ id, eventKey, epoch, sequence, subject, version, body }, state, nowMs) => {
      const saved = run(
        `INSERT INTO bursar_deliveries
           (delivery_id, event_key, epoch, sequence, subject, version, body, state, received_at_ms, next_attempt_at_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        ...[
          id,
          eventKey,
          epoch,
          sequence,
          subject,
          version,
          body,
          state,
          Math.floor(nowMs),
          Math.floor(nowMs),
        ],
      );
      return saved > 0 ? "saved" : "known";
    },
    process: async (id, work) => inTransaction(() => process(id, work)),
    fail: async (id, error, nextAttemptAtMs) => {
      const next = nextAttemptAtMs === undefined ? null : Math.floor(nextAttemptAtMs);
      run(
        `UPDATE bursar_deliveries SET attempts = attempts + 1, error = ?, state = ?,
           next_attempt_at_ms = coalesce(?, next_attempt_at_ms)
         WHERE delivery_id = ? AND state = 'pending'`,
        ...[error, next === null ? "parked" : "pending", next, id],
      );
    },
    due: async (nowMs, limit) =>
      all(
        `SELECT * FROM (
           SELECT ${deliveryColumns} FROM bursar_deliveries WHERE state = 'pending' AND next_attempt_at_ms <= ?
           ORDER BY next_attempt_at_ms LIMIT ?
         ) AS due ORDER BY sequence`,
        Math.floor(nowMs),
        limit,
      ).map(readClaimed),
    parked: async (limit) =>
      all(
        `SELECT ${deliveryColumns} FROM bursar_deliveries WHERE state = 'parked' ORDER BY sequence LIMIT ?`,
        limit,
      ).map(readParked),
    retry: async (id, nowMs) =>
      run(
        `UPDATE bursar_deliveries SET state = 'pending', attempts = 0, next_attempt_at_ms = ?
         WHERE delivery_id = ? AND state = 'parked'`,
        Math.floor(nowMs),
        id,
      ) > 0,
    prune: async (beforeMs, limit) => inTransaction(() => prune(beforeMs, limit)),
    sequences: async (epoch, after, limit) =>
      all(
        "SELECT DISTINCT sequence FROM bursar_deliveries WHERE epoch = ? AND sequence > ? ORDER BY sequence LIMIT ?",
        ...[epoch, after, limit],
      ).map(({ sequence }) => Number(sequence)),
    knownTo: async (epoch) => {
      const [row] = all("SELECT known_to FROM bursar_epochs WHERE epoch = ?", epoch);
      return row === undefined ? undefined : Number(row["known_to"]);
    },
    raiseKnownTo: async (epoch, sequence) => raiseKnownTo(epoch, sequence),
    latestEpoch: async () => {
      const [row] = [
        ...all("SELECT epoch FROM bursar_deliveries ORDER BY received_at_ms DESC LIMIT 1"),
        ...all("SELECT epoch FROM bursar_epochs LIMIT 1"),
      ];
      return row === undefined ? undefined : String(row["epoch"]);
    },
  };
}

function rollBack(handle: SqliteHandle): void {
  try {
    handle.exec("ROLLBACK");
  } catch {
    // SQLite has rolled back by itself, for example because the disk is full.
  }
}

function refusePromise(result: unknown): void {
  if (!(result instanceof Promise)) return;
  // What it does after its first await is not part of the transaction, and must not end the process.
  result.catch(() => undefined);
  throw new Error(
    "The handler returned a promise, and SQLite's transaction cannot wait for it. Write with the handle that it gets, and return.",
  );
}
