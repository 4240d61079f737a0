import type { AuditDraft } from "../../app/audit/audit-entry.js";
import { appendAudit } from "../access/audit.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { addToBuckets } from "./usage.js";

/** The sums of a tenant that are dated in the future. */
export interface TotalsAhead {
  tenantId: string;
  count: number;
  latestAt: Date;
}

/** Two clocks that agree differ by less. */
const marginSeconds = 60;
const listMax = 1000;

/** Served by usage_buckets_by_start. */
export async function listTotalsAhead(database: Database, now: Date): Promise<TotalsAhead[]> {
  return await database.query<TotalsAhead>(sql`
    SELECT w.tenant_id AS "tenantId", count(*)::integer AS count, max(b.start) AS "latestAt"
    FROM usage_buckets b JOIN usage_windows w ON w.id = b.window_id
    WHERE b.start > ${now}::timestamptz + interval '1 second' * ${marginSeconds}::integer
    GROUP BY w.tenant_id ORDER BY w.tenant_id LIMIT ${listMax}
  `);
}

/**
 * Moves what a tenant has counted in the future to the current buckets: it has happened by now, so a limit counts it for one more period
 * at most, and never less than it should. The lock of the tenant's log keeps out everything that counts. Returns the number of
 * buckets. Served by usage_buckets_by_start and the primary key.
 */
export async function repairTotals(
  database: Database,
  events: Pick<EventLog, "lock">,
  { tenantId, now, audit }: { tenantId: string; now: Date; audit: AuditDraft },
): Promise<number> {
  return await database.transaction(async (tx) => {
    await appendAudit(tx, [audit]);
    events.lock(tx, [tenantId]);
    const removed = await tx.query(sql`
      WITH ahead AS (
        DELETE FROM usage_buckets b USING usage_windows w
        WHERE w.tenant_id = ${tenantId} AND b.window_id = w.id AND b.start > ${now}
        RETURNING b.window_id, b.scope_id, b.sum, b.count, w.period_seconds, w.bucket_seconds
      ), moved AS (${addToBuckets(sql`
        SELECT window_id, scope_id, date_bin(interval '1 second' * bucket_seconds, ${now}::timestamptz, 'epoch') AS start,
          period_seconds, bucket_seconds, sum(sum) AS sum, sum(count)::bigint AS count
        FROM ahead GROUP BY window_id, scope_id, period_seconds, bucket_seconds`)})
      SELECT FROM ahead
    `);
    return removed.length;
  });
}
