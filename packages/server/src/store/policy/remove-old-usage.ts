import type { Database } from "../core/database.js";
import { removeInBatches } from "../core/rows/remove-in-batches.js";
import { sql } from "../core/sql.js";

/** In one call; the rest waits for the next. */
const windowsMax = 100;

/**
 * Removes buckets that no period contains any more, and windows that no policy tests any more. An hour and ten minutes later than
 * possible, so that a statement which has just read the window cannot leave a bucket behind. Served by usage_buckets_expired,
 * usage_windows_retired and the primary keys.
 */
export async function removeOldUsage(database: Database): Promise<void> {
  await removeInBatches(
    database,
    sql`usage_buckets`,
    sql`r.expires_at < now() - interval '1 hour' ORDER BY r.expires_at`,
  );
  const retired = await database.query<{ id: string }>(sql`
    SELECT id FROM usage_windows WHERE retired_at < now() - interval '10 minutes' ORDER BY retired_at LIMIT ${windowsMax}
  `);
  for (const { id } of retired) {
    await removeInBatches(
      database,
      sql`usage_buckets`,
      sql`r.window_id = ${id} ORDER BY r.window_id, r.scope_id, r.start`,
    );
    await database.query(sql`
      DELETE FROM usage_windows w WHERE w.id = ${id} AND NOT EXISTS (SELECT FROM usage_buckets b WHERE b.window_id = w.id)
    `);
  }
}
