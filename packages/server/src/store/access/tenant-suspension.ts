import { allClients } from "../../app/clients/sweeps.js";
import type { TenantSuspensionStore } from "../../app/clients/tenant-suspension.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";
import { appendAudit } from "./audit.js";
import { queueSweeps } from "./sweeps.js";

export function createTenantSuspensionStore(database: Database): TenantSuspensionStore {
  return {
    // Served by tenants_suspended, which is empty nearly always.
    isSuspended: async (tenantId) => {
      const rows = await database.query(
        sql`SELECT FROM tenants WHERE id = ${tenantId} AND suspended_at IS NOT NULL`,
      );
      return rows.length > 0;
    },
    // Served by the primary key. It waits for batches of the engine that have set transactions of the tenant aside.
    setSuspended: (tenantId, isSuspended, audit) =>
      database.transaction(async (tx) => {
        const [tenant] = await tx.query<{ isSuspended: boolean }>(sql`
          SELECT suspended_at IS NOT NULL AS "isSuspended" FROM tenants WHERE id = ${tenantId} FOR UPDATE
        `);
        if (tenant === undefined) return "unknown";
        if (tenant.isSuspended === isSuspended) return "unchanged";
        tx.send(sql`
          UPDATE tenants SET suspended_at = ${isSuspended ? audit.occurredAt : null} WHERE id = ${tenantId}
        `);
        const kind = isSuspended ? "cancel_orders" : "release_transactions";
        queueSweeps(tx, { tenantId, clientId: allClients }, [kind], audit);
        await appendAudit(tx, [audit]);
        return "changed";
      }),
  };
}
