import type { PolicyDocument } from "@bursar/domain";
import type { PolicyStore, PolicyVersion, StoredPolicy } from "../../app/policy/policy.js";
import type { WakeUps } from "../../runtime/wake-ups.js";
import { appendAudit } from "../access/audit.js";
import type { Database, Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";

export function createPolicyStore(database: Database, wakeUps: Pick<WakeUps, "publish">): PolicyStore {
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
    // Served by the primary key, read backwards; the document is not read.
    readPolicyVersion: async (tenantId) => {
      const [row] = await database.query<{ version: number }>(sql`
        SELECT version FROM policies WHERE tenant_id = ${tenantId} ORDER BY version DESC LIMIT 1
      `);
      return row?.version;
    },
    writePolicy: (tenantId, expectedVersion, { document, clientId, createdAt }, audit) =>
      database.transaction(async (tx) => {
        const version = await insertNext(tx, tenantId, expectedVersion, {
          document,
          clientId,
          createdAt,
        });
        if (version === undefined) return undefined;
        await appendAudit(tx, [audit]);
        tx.afterCommit(() => wakeUps.publish("policy", [tenantId]));
        return { version, document, updatedAt: createdAt };
      }),
    // Served by the primary key, read backwards.
    listVersions: (tenantId, limit, before) =>
      database.query<PolicyVersion>(sql`
        SELECT version, client_id AS "clientId", created_at AS "createdAt" FROM policies
        WHERE tenant_id = ${tenantId} ${before === undefined ? sql`` : sql`AND version < ${before}`}
        ORDER BY version DESC LIMIT ${limit}
      `),
    // Served by the primary key of wallets, and by clients_by_tenant.
    findOwn: async (tenantId, kind, ids) => {
      const table = kind === "wallet" ? sql`wallets` : sql`clients`;
      const rows = await database.query<{ id: string }>(sql`
        SELECT id FROM ${table} WHERE tenant_id = ${tenantId} AND id = ANY(${[...ids]}::uuid[])
      `);
      return new Set(rows.map(({ id }) => id));
    },
  };
}

/**
 * Inserts the version after the expected one, if the expected one is the latest. Of two concurrent writers, the second waits for the
 * first one's row and then inserts nothing. Served by the primary key.
 */
async function insertNext(
  tx: Queryable,
  tenantId: string,
  expectedVersion: number,
  { document, clientId, createdAt }: { document: PolicyDocument; clientId: string; createdAt: Date },
): Promise<number | undefined> {
  const [inserted] = await tx.query<{ version: number }>(sql`
    INSERT INTO policies (tenant_id, version, document, client_id, created_at)
    SELECT ${tenantId}, ${expectedVersion}::integer + 1, ${JSON.stringify(document)}::jsonb, ${clientId}::uuid,
      ${createdAt}::timestamptz
    WHERE ${expectedVersion} = coalesce(
      (SELECT version FROM policies WHERE tenant_id = ${tenantId} ORDER BY version DESC LIMIT 1), 0)
    ON CONFLICT DO NOTHING
    RETURNING version
  `);
  return inserted?.version;
}
