import { setTimeout as sleep } from "node:timers/promises";
import { OperatorError } from "../../../operator-error.js";
import { type Database, isLockTimeout, type Session } from "../database.js";
import { DatabaseUnavailableError } from "../database-unavailable-error.js";
import { sql } from "../sql.js";
import type { Migration } from "./migrations.js";

/** A step may rewrite a large table. */
const migrationTimeoutMs = 24 * 3_600_000;

const lockTimeoutMs = 3000;
const lockPauseMs = 1000;

/** Any number that no other user of the same database is likely to lock. */
const migrationLock = 4_051_867_213;

/**
 * Brings the schema up to date and says which steps it took. Each step is one transaction, so that a failure leaves the
 * schema at the step before; several processes may start at once, and one of them does the work.
 */
export async function migrate(database: Database, migrations: readonly Migration[]): Promise<string[]> {
  return await database.session(async (session) => {
    const [timeout] = await session.query<{ before: string }>(
      sql`SELECT current_setting('statement_timeout') AS before`,
    );
    await session.script("SET statement_timeout = 0");
    await session.script(`SELECT pg_advisory_lock(${migrationLock})`, migrationTimeoutMs);
    try {
      return await applyMissing(session, migrations);
    } finally {
      await session.query(sql`SELECT pg_advisory_unlock(${migrationLock})`);
      await session.query(sql`SELECT set_config('statement_timeout', ${timeout?.before}, false)`);
    }
  });
}

/** The schema as it was when this process had migrated it. */
export interface KnownSchema {
  migrationsCount: number;
  constraintsCount: number;
}

/**
 * Constraints of all tables but partitions, which come and go. A restore adds foreign keys last, after the data and the indexes. Reads
 * catalogs, at the start and after a change of the database.
 */
export async function countConstraints(database: Database): Promise<number> {
  const [row] = await database.session((session) =>
    session.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM pg_constraint c JOIN pg_class r ON r.oid = c.conrelid
    WHERE c.connamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
      AND c.contype IN ('p', 'u', 'f', 'c', 'x') AND NOT r.relispartition
  `),
  );
  return row?.count ?? 0;
}

/**
 * Rejects while a restore has not begun or not finished, which is seen only if it is not one transaction. A database without any schema
 * was dropped and created again: its operator is about to restore it, and a schema would be in the way. One of an earlier version cannot
 * be compared.
 */
export async function assertRestored(database: Database, known: KnownSchema): Promise<void> {
  const applied = (await database.session(readApplied)).length;
  if (applied === 0) throw unrestored("it is empty and has to be restored");
  if (applied !== known.migrationsCount) return;
  const found = await countConstraints(database);
  if (found < known.constraintsCount)
    throw unrestored(
      `it has ${found} of ${known.constraintsCount} constraints, so a restore has not finished`,
    );
}

function unrestored(reason: string): DatabaseUnavailableError {
  return new DatabaseUnavailableError("the database is not restored", {
    cause: new Error(`the database was replaced: ${reason}`),
  });
}

/** For commands that need the current schema but do not migrate. */
export async function assertMigrated(database: Database, migrations: readonly Migration[]): Promise<void> {
  const applied = await database.session(readApplied);
  if (applied.length !== migrations.length) {
    throw new OperatorError(
      `The schema of the database is at step ${applied.length} of ${migrations.length}: run \`bursar migrate\`, or the matching version of Bursar.`,
    );
  }
}

async function applyMissing(session: Session, migrations: readonly Migration[]): Promise<string[]> {
  const applied = await readApplied(session);
  const newest = applied.at(-1);
  if (newest !== undefined && newest.number > migrations.length) {
    throw new OperatorError(
      `The database has been migrated to ${newest.name}, which this version of Bursar does not know: start a newer version.`,
    );
  }
  for (const { number, name, checksum } of applied) {
    if (migrations[number - 1]?.checksum !== checksum) {
      throw new OperatorError(
        `The migration ${name} was applied in another form than this version of Bursar has it.`,
      );
    }
  }
  const missing = migrations.slice(applied.length);
  for (const migration of missing) await apply(session, migration);
  return missing.map((migration) => migration.name);
}

async function readApplied(session: Session): Promise<{ number: number; name: string; checksum: string }[]> {
  const present = sql`SELECT to_regclass('schema_migrations') IS NOT NULL AS present`;
  const [row] = await session.query<{ present: boolean }>(present);
  if (row?.present !== true) return [];
  return await session.query(sql`
    SELECT number, name, checksum FROM schema_migrations ORDER BY number
  `);
}

/**
 * A statement that waits for a table lock blocks all statements behind it, also reads. So a step does not wait long for another
 * session, such as a dump, but lets the others go first and tries again.
 */
async function apply(session: Session, migration: Migration): Promise<void> {
  while (!(await tryToApply(session, migration))) await sleep(lockPauseMs);
}

/** Returns false if another session held a lock for too long. */
async function tryToApply(session: Session, migration: Migration): Promise<boolean> {
  await session.script("BEGIN");
  try {
    await session.script(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    await session.script(migration.sql, migrationTimeoutMs);
    await session.query(sql`
      INSERT INTO schema_migrations (number, name, checksum)
      VALUES (${migration.number}, ${migration.name}, ${migration.checksum})
    `);
    await session.script("COMMIT");
    return true;
  } catch (cause) {
    await session.script("ROLLBACK");
    if (isLockTimeout(cause)) return false;
    // It starts again when the database is available.
    if (cause instanceof DatabaseUnavailableError) throw cause;
    throw new Error(`migration ${migration.name} failed: ${(cause as Error).message}`, { cause });
  }
}
