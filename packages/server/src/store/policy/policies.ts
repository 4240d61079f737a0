import { uuidFromTypeId } from "@bursar/domain";
import type {
  ActivePolicyReads,
  NewPolicy,
  PolicyKey,
  PolicyReads,
  PolicyStore,
  PolicyVersion,
  StoredPolicy,
} from "../../app/policy/policy.js";
import type { WakeUps } from "../../runtime/loops/wake-ups.js";
import { appendAudit } from "../access/audit.js";
import { countChangeApprovers } from "../access/change-requests/count-change-approvers.js";
import type { Database, KeyedQueryable, Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";
import { lockTenant, putWindowsInForce } from "./usage-windows.js";

export function createPolicyStore(database: Database, wakeUps: Pick<WakeUps, "publish">): PolicyStore {
  return {
    ...createPolicyReads(database),
    ...createActivePolicyReads(database),
    writePolicy: (tenantId, expectedVersion, policy, audit) =>
      database.transaction(async (tx) => {
        const written = await writePolicy(tx, tenantId, expectedVersion, policy);
        if (written === undefined) return undefined;
        await appendAudit(tx, [audit]);
        tx.afterCommit(() => wakeUps.publish("policy", [tenantId]));
        return written;
      }),
    // Served by the primary key, read backwards.
    listVersions: (tenantId, limit, before) =>
      database.query<PolicyVersion>(sql`
        SELECT version, client_id AS "clientId", created_at AS "createdAt" FROM policies
        WHERE tenant_id = ${tenantId} ${before === undefined ? sql`` : sql`AND version < ${before}`}
        ORDER BY version DESC LIMIT ${limit}
      `),
  };
}

export function createActivePolicyReads(source: Queryable): ActivePolicyReads {
  return {
    // Served by the primary key, read backwards once for each tenant; the documents are not read.
    readPolicyVersions: async (tenantIds) => {
      const rows = await source.query<PolicyKey>(sql`
        SELECT given.tenant_id AS "tenantId", latest.version FROM unnest(${[...tenantIds]}::uuid[]) AS given (tenant_id)
        CROSS JOIN LATERAL (
          SELECT version FROM policies p WHERE p.tenant_id = given.tenant_id ORDER BY version DESC LIMIT 1) AS latest
      `);
      return new Map(rows.map(({ tenantId, version }) => [tenantId, version]));
    },
    // Served by the primary key.
    readPolicies: async (keys) => {
      const rows = await source.query<PolicyRow & PolicyKey>(sql`
        SELECT given.tenant_id AS "tenantId", p.version, p.document, p.created_at AS "updatedAt", p.guards
        FROM unnest(${keys.map(({ tenantId }) => tenantId)}::uuid[], ${keys.map(({ version }) => version)}::integer[])
          AS given (tenant_id, version)
        CROSS JOIN LATERAL (
          SELECT * FROM policies p WHERE p.tenant_id = given.tenant_id AND p.version = given.version LIMIT 1) AS p
      `);
      return rows.map(({ tenantId, ...row }) => ({ tenantId, ...readRow(row) }));
    },
  };
}

/** Served by the primary key, read backwards. */
async function readPolicy(
  source: Queryable,
  tenantId: string,
  version: number | undefined,
): Promise<StoredPolicy | undefined> {
  const [row] = await source.query<PolicyRow>(sql`
    SELECT version, document, created_at AS "updatedAt", guards
    FROM policies
    WHERE tenant_id = ${tenantId} ${version === undefined ? sql`` : sql`AND version = ${version}`}
    ORDER BY version DESC LIMIT 1
  `);
  return row && readRow(row);
}

/** What a change of the policy is planned from. It reads from the pool, or in the SQL transaction that writes the change. */
export function createPolicyReads(source: KeyedQueryable): PolicyReads {
  return {
    countChangeApprovers: (...asked) => countChangeApprovers(source, ...asked),
    readPolicy: (tenantId, version) => readPolicy(source, tenantId, version),
    // Served by the primary key of wallets, and by clients_by_tenant.
    findOwn: async (tenantId, kind, ids) => {
      const table = kind === "wallet" ? sql`wallets` : sql`clients`;
      const rows = await source.query<{ id: string }>(sql`
        SELECT id FROM ${table} WHERE tenant_id = ${tenantId} AND id = ANY(${[...ids]}::uuid[])
      `);
      return new Set(rows.map(({ id }) => id));
    },
  };
}

interface PolicyRow extends Omit<StoredPolicy, "guards"> {
  guards: { version: number | null; until: string }[];
}

function readRow({ guards, ...policy }: PolicyRow): StoredPolicy {
  return { ...policy, guards: guards.map(({ version, until }) => ({ version, until: new Date(until) })) };
}

/** Puts the next version in force, without its audit entry; undefined if the version in force is not the expected one. */
export async function writePolicy(
  tx: Queryable,
  tenantId: string,
  expectedVersion: number,
  policy: NewPolicy,
): Promise<StoredPolicy | undefined> {
  await lockTenant(tx, tenantId);
  const version = await insertNext(tx, tenantId, expectedVersion, policy);
  if (version === undefined) return undefined;
  await putWindowsInForce(tx, tenantId, policy.windows);
  await recordNamedClients(tx, tenantId, expectedVersion, policy.namedBefore);
  return { version, document: policy.document, updatedAt: policy.createdAt, guards: policy.guards };
}

/**
 * Inserts the version after the expected one, if the expected one is the latest. Of two concurrent writers, the second waits for the
 * first one's row and then inserts nothing. Served by the primary key.
 */
async function insertNext(
  tx: Queryable,
  tenantId: string,
  expectedVersion: number,
  { document, clientId, createdAt, guards }: NewPolicy,
): Promise<number | undefined> {
  const [inserted] = await tx.query<{ version: number }>(sql`
    INSERT INTO policies (tenant_id, version, document, client_id, created_at, guards)
    SELECT ${tenantId}, ${expectedVersion}::integer + 1, ${JSON.stringify(document)}::jsonb, ${clientId}::uuid,
      ${createdAt}::timestamptz, ${JSON.stringify(guards)}::jsonb
    WHERE ${expectedVersion} = coalesce(
      (SELECT version FROM policies WHERE tenant_id = ${tenantId} ORDER BY version DESC LIMIT 1), 0)
    ON CONFLICT DO NOTHING
    RETURNING version
  `);
  return inserted?.version;
}

/**
 * Records the clients that a replaced version names: they stay protected. Served by the primary key of clients. A client that is already
 * recorded is left as it is.
 */
async function recordNamedClients(
  tx: Queryable,
  tenantId: string,
  version: number,
  named: readonly string[],
): Promise<void> {
  if (named.length === 0) return;
  await tx.query(sql`
    INSERT INTO named_clients (client_id, policy_version)
    SELECT id, ${version}::integer FROM clients
    WHERE tenant_id = ${tenantId} AND id = ANY(${named.flatMap((id) => uuidFromTypeId("cli", id) ?? [])}::uuid[])
    ORDER BY id
    ON CONFLICT DO NOTHING
  `);
}
