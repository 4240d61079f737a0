import type { AuditDraft } from "../../app/audit/audit-entry.js";
import { appendAudit } from "../access/audit.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";

/** The running totals of a tenant that are dated in the future. */
export interface TotalsAhead {
  tenantId: string;
  count: number;
  latestAt: Date;
}

/** Two clocks that agree differ by less. */
const marginSeconds = 60;
const listMax = 1000;

/** Served by usage_totals_by_age. */
export async function listTotalsAhead(database: Database, now: Date): Promise<TotalsAhead[]> {
  return await database.query<TotalsAhead>(sql`
    SELECT tenant_id AS "tenantId", count(*)::integer AS count, max(at) AS "latestAt"
    FROM usage_totals WHERE at > ${now}::timestamptz + interval '1 second' * ${marginSeconds}::integer
    GROUP BY tenant_id ORDER BY tenant_id LIMIT ${listMax}
  `);
}

/**
 * Replaces the totals of a tenant that are dated in the future by one that is dated now: what they have counted has happened by now, so a
 * limit counts it for one more period at most, and never less than it should. The lock of the tenant's log keeps out everything that
 * counts. Returns how many there were. Served by the primary key.
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
        DELETE FROM usage_totals WHERE tenant_id = ${tenantId} AND at > ${now} RETURNING *
      ), last AS (
        SELECT DISTINCT ON (scope, scope_id, asset) * FROM ahead ORDER BY scope, scope_id, asset, at DESC
      ), written AS (
        INSERT INTO usage_totals (tenant_id, scope, scope_id, asset, at, sum, count)
        SELECT tenant_id, scope, scope_id, asset, ${now}::timestamptz, sum, count FROM last
        ON CONFLICT (tenant_id, scope, scope_id, asset, at) DO UPDATE SET sum = EXCLUDED.sum, count = EXCLUDED.count
      )
      SELECT FROM ahead
    `);
    return removed.length;
  });
}
