// A past for a sandbox: transactions that were accepted and completed over the last year, with their events and ledger entries.
import { connect, sandboxTenant } from "./load.mjs";

/** Rows that one statement writes: enough to be quick, and the disk need not hold all of them twice. */
const rowsPerStatement = 1_000_000;
const tables = ["transactions", "events", "ledger_entries"];

/**
 * Writes as many completed transactions as asked for; the books stay in order. Indexes other than primary keys are made anew when
 * the rows are there, which is several times as quick as keeping them up.
 * @param {string} databaseUrl @param {number} rows @returns {Promise<{ seconds: number, megabytes: number }>}
 */
export async function loadHistory(databaseUrl, rows) {
  const startedAt = performance.now();
  const database = await connect(databaseUrl);
  await database.query(
    "SET synchronous_commit = off; SET maintenance_work_mem = '512MB'; SET work_mem = '256MB'",
  );
  await database.query("ALTER SYSTEM SET max_wal_size = '8GB'");
  await database.query("SELECT pg_reload_conf()");
  const restoreIndexes = await dropIndexes(database);
  for (let done = 0; done < rows; done += rowsPerStatement)
    await writeRows(database, done + 1, Math.min(rows, done + rowsPerStatement), rows);
  await writeTotals(database, rows);
  await restoreIndexes();
  await database.query("ALTER SYSTEM RESET max_wal_size");
  await database.query("SELECT pg_reload_conf()");
  // What a service that has run for a year would long have behind it.
  await database.query(`VACUUM (ANALYZE, FREEZE) ${tables.join(", ")}`);
  await database.query("CHECKPOINT");
  const { rows: sizes } = await database.query("SELECT pg_database_size(current_database()) AS bytes");
  await database.end();
  return {
    seconds: Math.round((performance.now() - startedAt) / 1000),
    megabytes: Math.round(Number(sizes[0].bytes) / 1_048_576),
  };
}

/** @param {import("pg").Client} database @returns {Promise<() => Promise<void>>} makes them again */
async function dropIndexes(database) {
  const { rows: indexes } = await database.query(
    `SELECT x.indexrelid::regclass::text AS name, pg_get_indexdef(x.indexrelid) AS definition,
       x.indrelid::regclass::text AS table, c.conname AS constraint, pg_get_constraintdef(c.oid) AS constraint_definition
     FROM pg_index x LEFT JOIN pg_constraint c ON c.conindid = x.indexrelid
     WHERE x.indrelid = ANY($1::regclass[]) AND NOT x.indisprimary`,
    [tables],
  );
  for (const { name, table, constraint } of indexes)
    await database.query(
      constraint ? `ALTER TABLE ${table} DROP CONSTRAINT ${constraint}` : `DROP INDEX ${name}`,
    );
  return async () => {
    for (const { table, definition, constraint, constraint_definition } of indexes) {
      const make = `ALTER TABLE ${table} ADD CONSTRAINT ${constraint} ${constraint_definition}`;
      await database.query(constraint ? make : definition);
    }
  };
}

/**
 * Ids are spread over the past year in the order of their numbers, keys are random as those of clients are.
 * @param {import("pg").Client} database @param {number} first @param {number} last @param {number} rows
 */
async function writeRows(database, first, last, rows) {
  await database.query(
    `WITH tenant AS (${sandboxTenant}),
     client AS (SELECT c.id FROM clients c JOIN tenant t ON t.tenant_id = c.tenant_id LIMIT 1),
     numbered AS (SELECT n, uuidv7((n - $3::float8) / $3 * interval '365 days' - interval '1 hour') AS id
       FROM generate_series($1::bigint, $2) n)
     INSERT INTO transactions
       (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount, source_account_id, destination_account_id, created_at)
     SELECT tenant_id, numbered.id, gen_random_uuid()::text, sha256(n::text::bytea), client.id, 'invoice-' || n, 'USD', 1, source,
       destination, uuid_extract_timestamp(numbered.id)
     FROM numbered, tenant, client`,
    [first, last, rows],
  );
  // The newest rows of the table are those of this batch: ids grow with their numbers.
  await database.query(
    `WITH tenant AS (${sandboxTenant}),
     newest AS MATERIALIZED (
       SELECT t.tenant_id, t.id, t.created_at, t.source_account_id, t.destination_account_id FROM transactions t
       JOIN tenant USING (tenant_id) WHERE t.id < uuidv7(interval '-59 minutes') ORDER BY t.id DESC LIMIT $2::bigint - $1::bigint + 1),
     entries AS (
       INSERT INTO ledger_entries (tenant_id, transaction_id, line, debit_account_id, credit_account_id, asset, amount)
       SELECT tenant_id, id, 1, source_account_id, destination_account_id, 'USD', 1 FROM newest ORDER BY id)
     INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at)
     SELECT n.tenant_id, coalesce(s.sequence, 0) + $1 - 1 + row_number() OVER (ORDER BY n.id), 'transaction.updated', n.id, 2,
       'completed', 'accepted', n.created_at + interval '10 milliseconds'
     FROM newest n LEFT JOIN event_sequences s ON s.tenant_id = n.tenant_id ORDER BY n.id`,
    [first, last],
  );
}

/** Balances and the counter of events, as if each transaction had changed them. @param {import("pg").Client} database @param {number} rows */
async function writeTotals(database, rows) {
  await database.query(
    `WITH tenant AS (${sandboxTenant}),
     counted AS (
       INSERT INTO event_sequences SELECT tenant_id, $1::bigint FROM tenant
       ON CONFLICT (tenant_id) DO UPDATE SET sequence = event_sequences.sequence + $1),
     paid AS (
       UPDATE ledger_accounts a SET available = available - $1 FROM tenant t
       WHERE a.tenant_id = t.tenant_id AND a.account_id = t.source AND a.asset = 'USD')
     INSERT INTO ledger_accounts (tenant_id, account_id, asset, kind, available, held)
     SELECT tenant_id, destination, 'USD', 'wallet', $1, 0 FROM tenant
     ON CONFLICT (tenant_id, account_id, asset) DO UPDATE SET available = ledger_accounts.available + $1`,
    [rows],
  );
}
