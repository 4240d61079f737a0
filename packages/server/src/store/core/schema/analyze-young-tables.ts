import type { Database } from "../database.js";
import { sql } from "../sql.js";

/** For larger tables autovacuum, which runs once a minute, is quick enough: a plan for this many rows is right for any number. */
const youngRowsMax = 10_000;

/**
 * Analyzes tables that have just begun to fill. To the planner all indexes of an empty table are equally good,
 * and a statement that is prepared then keeps the plan until the table is analysed. The engine's claim read all transactions of a
 * tenant that way: the first burst on a new database was settled at 1,000 a second instead of 5,400, until autovacuum came by.
 * Before PostgreSQL 17 only the owner of a table can do it.
 */
export async function analyzeYoungTables(database: Database): Promise<void> {
  const grown = await database.query<{ table: string }>(sql`
    SELECT c.oid::regclass::text AS table FROM pg_class c
    WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.reltuples < ${youngRowsMax}
      AND (pg_has_role(c.relowner, 'USAGE') OR current_setting('server_version_num')::int >= 170000)
      AND pg_relation_size(c.oid) > 2 * c.relpages::bigint * current_setting('block_size')::bigint
  `);
  if (grown.length === 0) return;
  await database.session((session) =>
    session.script(`ANALYZE ${grown.map(({ table }) => table).join(", ")}`),
  );
}
