import type { Tenant, TenantStore } from "../../app/tenants/create-tenant.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";
import { insertWallet } from "../wallets/wallets.js";
import { appendAudit } from "./audit.js";

export function createTenantStore(database: Database): TenantStore {
  return {
    createTenant: async ({ id, name, createdAt }, wallets, audit) => {
      await database.transaction(async (tx) => {
        await tx.query(sql`INSERT INTO tenants (id, name, created_at) VALUES (${id}, ${name}, ${createdAt})`);
        for (const wallet of wallets) await insertWallet(tx, wallet);
        await appendAudit(tx, [audit]);
      });
    },
    listTenants: () =>
      database.query<Tenant>(sql`SELECT id, name, created_at AS "createdAt" FROM tenants ORDER BY id`),
  };
}
