import type {
  ClaimedDelivery,
  ProcessResult,
  ReceiverStore,
  StoredDelivery,
} from "../receiver/receiver-store.js";
import { deliveryColumns, deliveryTables, onKnownEpoch, readClaimed, readParked } from "./delivery-tables.js";

/** What the handler writes with: a query in the transaction that also marks the delivery. */
export interface SqlTransaction {
  query: (text: string, values?: unknown[]) => Promise<{ rows: Record<string, unknown>[] }>;
}

/** Node ends a process if an emitter has an error that nobody listens for. */
interface ErrorEmitter {
  on?(event: "error", listener: (error: Error) => void): unknown;
  off?(event: "error", listener: (error: Error) => void): unknown;
}

/** A pool as node-postgres has it. */
export interface SqlPool extends ErrorEmitter {
  connect: () => Promise<SqlTransaction & ErrorEmitter & { release: (error?: Error | boolean) => void }>;
}

/** A broken connection is reported by the query that uses it, or is replaced by the pool. */
const ignoreError = () => undefined;

/** Creates the tables if they are missing. Run it before the first delivery, or take its statements into your migrations. */
export const postgresStoreSchema = deliveryTables;

/**
 * Keeps deliveries in your own PostgreSQL. The handler gets the transaction in which the delivery is marked: what it writes with it and the
 * mark are committed together, so it takes effect exactly once. Any number of receivers can share the tables. A restart of PostgreSQL does
 * not end the process: the store listens for the errors of the pool and its connections.
 */
export function createPostgresStore(
  pool: SqlPool,
): ReceiverStore<SqlTransaction> & { prepare: () => Promise<void> } {
  pool.on?.("error", ignoreError);

  async function inTransaction<Value>(work: (sql: SqlTransaction) => Promise<Value>): Promise<Value> {
    const connection = await pool.connect();
    let failure: Error | undefined;
    connection.on?.("error", ignoreError);
    try {
      await connection.query("BEGIN");
      const value = await work(connection);
      await connection.query("COMMIT");
      return value;
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      // A connection that cannot roll back is not used again; the server then rolls back by itself.
      await connection.query("ROLLBACK").then(
        () => {
          failure = undefined;
        },
        () => undefined,
      );
      throw error;
    } finally {
      connection.off?.("error", ignoreError);
      connection.release(failure);
    }
  }

  async function query(text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return await inTransaction(async (sql) => (await sql.query(text, values)).rows);
  }

  return {
    prepare: async () => {
      await inTransaction(async (sql) => {
        // Two receivers that start together would both create the tables.
        await sql.query("SELECT pg_advisory_xact_lock(hashtext('bursar_deliveries'))");
        await sql.query(postgresStoreSchema);
      });
    },
    save: async (delivery, state, nowMs) => {
      const { id, eventKey, epoch, sequence, subject, version, body } = delivery;
      const rows = await query(
        `INSERT INTO bursar_deliveries
           (delivery_id, event_key, epoch, sequence, subject, version, body, state, received_at_ms, next_attempt_at_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) ON CONFLICT DO NOTHING RETURNING delivery_id`,
        [id, eventKey, epoch, sequence, subject, version, body, state, Math.floor(nowMs)],
      );
      return rows.length > 0 ? "saved" : "known";
    },
    process: (id, work) => inTransaction((sql) => processIn(sql, id, work)),
    fail: async (id, error, nextAttemptAtMs) => {
      await query(
        `UPDATE bursar_deliveries SET attempts = attempts + 1, error = $2,
           state = CASE WHEN $3::bigint IS NULL THEN 'parked' ELSE 'pending' END,
           next_attempt_at_ms = coalesce($3::bigint, next_attempt_at_ms)
         WHERE delivery_id = $1 AND state = 'pending'`,
        [id, error, nextAttemptAtMs === undefined ? null : Math.floor(nextAttemptAtMs)],
      );
    },
    due: async (nowMs, limit) => {
      const rows = await query(
        `SELECT * FROM (
           SELECT ${deliveryColumns} FROM bursar_deliveries WHERE state = 'pending' AND next_attempt_at_ms <= $1
           ORDER BY next_attempt_at_ms LIMIT $2
         ) AS due ORDER BY sequence`,
        [Math.floor(nowMs), limit],
      );
      return rows.map(readClaimed);
    },
    parked: async (limit) => {
      const rows = await query(
        `SELECT ${deliveryColumns} FROM bursar_deliveries WHERE state = 'parked' ORDER BY sequence LIMIT $1`,
        [limit],
      );
      return rows.map(readParked);
    },
    retry: async (id, nowMs) => {
      const rows = await query(
        `UPDATE bursar_deliveries SET state = 'pending', attempts = 0, next_attempt_at_ms = $2
         WHERE delivery_id = $1 AND state = 'parked' RETURNING delivery_id`,
        [id, Math.floor(nowMs)],
      );
      return rows.length > 0;
    },
    prune: async (beforeMs, limit) => {
      // Read by bursar_deliveries_received. Two receivers do not wait for each other.
      const [row] = await query(
        `WITH forgotten AS (
           DELETE FROM bursar_deliveries WHERE delivery_id IN (
             SELECT delivery_id FROM bursar_deliveries
             WHERE received_at_ms < $1 AND state IN ('processed', 'stale', 'skipped')
             ORDER BY received_at_ms LIMIT $2 FOR UPDATE SKIP LOCKED
           ) RETURNING epoch, sequence
         ), known AS (
           INSERT INTO bursar_epochs (epoch, known_to)
           SELECT epoch, max(sequence) FROM forgotten GROUP BY epoch ORDER BY epoch ${onKnownEpoch}
         )
         SELECT count(*) AS count FROM forgotten`,
        [Math.floor(beforeMs), limit],
      );
      return Number(row?.["count"]);
    },
    sequences: async (epoch, after, limit) => {
      const rows = await query(
        `SELECT DISTINCT sequence FROM bursar_deliveries WHERE epoch = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`,
        [epoch, after, limit],
      );
      return rows.map(({ sequence }) => Number(sequence));
    },
    knownTo: async (epoch) => {
      const [row] = await query("SELECT known_to FROM bursar_epochs WHERE epoch = $1", [epoch]);
      return row === undefined ? undefined : Number(row["known_to"]);
    },
    raiseKnownTo: async (epoch, sequence) => {
      await query(`INSERT INTO bursar_epochs (epoch, known_to) VALUES ($1, $2) ${onKnownEpoch}`, [
        epoch,
        sequence,
      ]);
    },
    latestEpoch: async () => {
      const [row] = await query(
        `(SELECT epoch FROM bursar_deliveries ORDER BY received_at_ms DESC LIMIT 1)
         UNION ALL (SELECT epoch FROM bursar_epochs LIMIT 1) LIMIT 1`,
      );
      return row === undefined ? undefined : String(row["epoch"]);
    },
  };
}

async function processIn(
  sql: SqlTransaction,
  id: string,
  work: (delivery: ClaimedDelivery, context: SqlTransaction) => Promise<void> | void,
): Promise<ProcessResult> {
  const { rows } = await sql.query(
    `SELECT ${deliveryColumns} FROM bursar_deliveries WHERE delivery_id = $1 AND state = 'pending' FOR UPDATE SKIP LOCKED`,
    [id],
  );
  if (rows[0] === undefined) return "settled";
  const delivery = readClaimed(rows[0]);
  const isStale = await isOutdated(sql, delivery);
  if (!isStale) await work(delivery, sql);
  const state = isStale ? "stale" : "processed";
  await sql.query("UPDATE bursar_deliveries SET state = $2, error = NULL WHERE delivery_id = $1", [
    id,
    state,
  ]);
  return state;
}

/** Compares the version with the newest that was processed, and raises that. The row stays locked, so one subject is processed by one receiver. */
async function isOutdated(
  sql: SqlTransaction,
  { subject, epoch, version }: StoredDelivery,
): Promise<boolean> {
  if (subject === null || version === null) return false;
  await sql.query(
    "INSERT INTO bursar_subjects (subject, epoch, version) VALUES ($1, $2, -1) ON CONFLICT DO NOTHING",
    [subject, epoch],
  );
  const { rows } = await sql.query(
    "SELECT version FROM bursar_subjects WHERE subject = $1 AND epoch = $2 FOR UPDATE",
    [subject, epoch],
  );
  if (Number(rows[0]?.["version"]) >= version) return true;
  await sql.query("UPDATE bursar_subjects SET version = $3 WHERE subject = $1 AND epoch = $2", [
    subject,
    epoch,
    version,
  ]);
  return false;
}
