import type { TestDatabase } from "./test-database.js";

/** What `pg_dump` and later `pg_restore --clean --single-transaction` into the same database do; the embedded PostgreSQL has neither. */
export async function dumpInPlace({ run }: Pick<TestDatabase, "run">): Promise<() => Promise<void>> {
  await run(forEachTable("dump", "CREATE TABLE dump.%1$I AS SELECT %2$s FROM %1$I"));
  // Without foreign keys and triggers, as in a restore. Locks are taken first, so that no writer comes between.
  // One message is one transaction.
  const script = `SET LOCAL session_replication_role = replica;
    ${forEachTable(undefined, "TRUNCATE %1$I CASCADE")};
    ${forEachTable(undefined, "INSERT INTO %1$I (%2$s) OVERRIDING SYSTEM VALUE SELECT %2$s FROM dump.%1$I")}`;
  return async () => {
    // Processes that read the tables in another order can make it the victim of a deadlock.
    for (let triesLeft = 5; ; triesLeft -= 1)
      try {
        return await run(script);
      } catch (error) {
        if (triesLeft === 1 || codeOf(error) !== deadlockDetected) throw error;
      }
  };
}

const deadlockDetected = "40P01";

function codeOf(error: unknown): unknown {
  return ((error as Error).cause as { code?: unknown } | undefined)?.code;
}

/** Partitions are written through their parents. Generated columns are left out. */
function forEachTable(schema: string | undefined, template: string): string {
  return `DO $$ DECLARE statement text; BEGIN
    ${schema === undefined ? "" : `DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema};`}
    FOR statement IN
      SELECT format('${template}', c.relname, (
        SELECT string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FROM pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''))
      FROM pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace
      ORDER BY c.relname
    LOOP EXECUTE statement; END LOOP;
  END $$`;
}
