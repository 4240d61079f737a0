import type { Tenant, TenantStore } from "../app/tenants/create-tenant.js";
import { appendAudit } from "./audit.js";
import type { Database } from "./database.js";

export function createTenantStore(database: Database): TenantStore {
  return {
    createTenant: async ({ id, name, createdAt }, audit) => {
      await database.begin(async (transaction) => {
        await transaction`INSERT INTO tenants (id, name, created_at) VALUES (${id}, ${name}, ${createdAt})`;
        await appendAudit(transaction, [audit]);
      });
    },
    listTenants: async () =>
      await database<Tenant[]>`SELECT id, name, created_at AS "createdAt" FROM tenants ORDER BY id`,
  };
}
