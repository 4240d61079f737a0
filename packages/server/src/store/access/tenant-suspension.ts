import type { StopSubject } from "../../app/access/stop-in-any-case.js";
import { allClients } from "../../app/clients/sweep.js";
import type { TenantSuspensionStore } from "../../app/clients/tenant-suspension.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";
import { appendAudit } from "./audit.js";
import { findSuspension } from "./audit-log/find-entries.js";
import { findStanding, recordStop } from "./stops/stop-records.js";
import { queueSweeps } from "./sweeps.js";

export function createTenantSuspensionStore(database: Database): TenantSuspensionStore {
  return {
    isSuspended: async (tenantId) => {
      // Served by tenants_suspended, which is empty nearly always.
      const rows = await database.query(
        sql`SELECT FROM tenants WHERE id = ${tenantId} AND suspended_at IS NOT NULL`,
      );
      if (rows.length > 0 || (await repairSuspension(database, tenantId))) return true;
      return (await findStanding(database, subjectOf(tenantId))) !== "free";
    },
    // Served by the primary key. It waits for batches of the engine that have set transactions of the tenant aside.
    setSuspended: (tenantId, isSuspended, audit) =>
      database.transaction(async (tx) => {
        // The operator's commands have no other limit.
        tx.send(sql`SET LOCAL lock_timeout = '15s'`);
        const [tenant] = await tx.query<{ isSuspended: boolean }>(sql`
          SELECT suspended_at IS NOT NULL AS "isSuspended" FROM tenants WHERE id = ${tenantId} FOR UPDATE
        `);
        if (tenant === undefined) return "unknown";
        tenant.isSuspended ||= (await findSuspension(tx, tenantId)) !== undefined;
        const standing = await findStanding(tx, subjectOf(tenantId));
        // The three differ if something other than the service has written one of them.
        if (tenant.isSuspended === isSuspended && standing === (isSuspended ? "stopped" : "free"))
          return "unchanged";
        tx.send(sql`
          UPDATE tenants SET suspended_at = ${isSuspended ? audit.occurredAt : null} WHERE id = ${tenantId}
        `);
        await recordStop(tx, subjectOf(tenantId), isSuspended, audit.occurredAt);
        const kind = isSuspended ? "cancel_orders" : "release_transactions";
        queueSweeps(tx, { tenantId, clientId: allClients }, [kind], audit);
        await appendAudit(tx, [audit]);
        return "changed";
      }),
  };
}

const subjectOf = (tenantId: string): StopSubject => ({ tenantId, subjectId: tenantId });

/**
 * Suspends a tenant again whose suspension something else has lifted: the audit log says that the operator has not. The engine and the
 * markets read the column. The tenant is locked first, as by the operator's command. Served by the primary key.
 */
async function repairSuspension(database: Database, tenantId: string): Promise<boolean> {
  if ((await findSuspension(database, tenantId)) === undefined) return false;
  return await database.transaction(async (tx) => {
    tx.send(sql`SELECT FROM tenants WHERE id = ${tenantId} FOR UPDATE`);
    const since = await findSuspension(tx, tenantId);
    if (since !== undefined)
      tx.send(sql`UPDATE tenants SET suspended_at = coalesce(suspended_at, ${since}) WHERE id = ${tenantId}`);
    return since !== undefined;
  });
}
