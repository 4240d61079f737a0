import type { PolicyStore, StoredPolicy } from "../app/policy/policy.js";
import type { Database } from "./database.js";
import { sql } from "./sql.js";

export function createPolicyStore(database: Database): Pick<PolicyStore, "readPolicy"> {
  return {
    // Served by the primary key, read backwards.
    readPolicy: async (tenantId, version) => {
      const [row] = await database.query<StoredPolicy>(sql`
        SELECT version, document, created_at AS "updatedAt" FROM policies
        WHERE tenant_id = ${tenantId} ${version === undefined ? sql`` : sql`AND version = ${version}`}
        ORDER BY version DESC LIMIT 1
      `);
      return row;
    },
  };
}
