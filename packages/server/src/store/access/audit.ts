import { chainHash, chainStart } from "../../app/audit/audit-chain.js";
import {
  type AuditDraft,
  type AuditHead,
  type AuditStore,
  type ChainedAuditEntry,
  nilTenantId,
} from "../../app/audit/audit-entry.js";
import type { Database, Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";

interface AuditRow extends Omit<ChainedAuditEntry, "number"> {
  /** PostgreSQL's bigint arrives as a string. */
  number: string;
}

export function createAuditStore(database: Database): AuditStore {
  const read = (rows: AuditRow[]): ChainedAuditEntry[] =>
    rows.map((row) => ({ ...row, number: BigInt(row.number) }));
  return {
    append: async (drafts) => {
      await database.transaction((tx) => appendAudit(tx, drafts));
    },
    // Served by the primary key, read backwards.
    list: async (tenantId, limit, before) =>
      read(
        await database.query<AuditRow>(sql`
          SELECT ${entryColumns} FROM audit_entries
          WHERE tenant_id = ${tenantId} ${before === undefined ? sql`` : sql`AND number < ${before.toString()}`}
          ORDER BY number DESC LIMIT ${limit}
        `),
      ),
    // Served by the primary key.
    listAscending: async (tenantId, limit, after) =>
      read(
        await database.query<AuditRow>(sql`
          SELECT ${entryColumns} FROM audit_entries
          WHERE tenant_id = ${tenantId} AND number > ${after.toString()}
          ORDER BY number LIMIT ${limit}
        `),
      ),
    listHeads: async () => {
      const rows = await database.query<Omit<AuditHead, "number"> & { number: string }>(sql`
        SELECT tenant_id AS "tenantId", number, hash FROM audit_heads ORDER BY tenant_id
      `);
      return rows.map((row) => ({ ...row, number: BigInt(row.number) }));
    },
  };
}

const entryColumns = sql`
    tenant_id AS "tenantId", number, occurred_at AS "occurredAt", actor, client_id AS "clientId", token_id AS "tokenId",
    action, object, outcome, code, repeated, request_id AS "requestId", address, hash
  `;

/** Appends entries to the chains of their tenants, in the SQL transaction of the action that they describe. */
export async function appendAudit(tx: Queryable, drafts: readonly AuditDraft[]): Promise<void> {
  const byTenant = new Map<string, AuditDraft[]>();
  for (const draft of drafts) {
    const tenantId = draft.tenantId ?? nilTenantId;
    byTenant.set(tenantId, [...(byTenant.get(tenantId) ?? []), { ...draft, tenantId }]);
  }
  // Heads are locked in the order of their ids, so that two writers do not deadlock.
  for (const tenantId of [...byTenant.keys()].sort()) {
    await appendToChain(tx, tenantId, byTenant.get(tenantId) ?? []);
  }
}

async function appendToChain(tx: Queryable, tenantId: string, drafts: readonly AuditDraft[]): Promise<void> {
  const start = Buffer.from(chainStart);
  // A head with number 0 is inserted first, so that there is a row to lock.
  await tx.query(
    sql`INSERT INTO audit_heads (tenant_id, number, hash) VALUES (${tenantId}, 0, ${start}) ON CONFLICT DO NOTHING`,
  );
  const [head] = await tx.query<{ number: string; hash: Buffer }>(sql`
    SELECT number, hash FROM audit_heads WHERE tenant_id = ${tenantId} FOR UPDATE
  `);
  let number = BigInt(head?.number ?? 0);
  let hash: Uint8Array = head?.hash ?? start;
  const chained = drafts.map((draft) => {
    number += 1n;
    hash = chainHash(hash, number, draft);
    return { ...draft, number: number.toString(), hash: Buffer.from(hash) };
  });
  const column = <Key extends keyof (typeof chained)[number]>(key: Key) => chained.map((entry) => entry[key]);
  await tx.query(sql`
    INSERT INTO audit_entries
      (tenant_id, number, occurred_at, actor, client_id, token_id, action, object, outcome, code, repeated, request_id,
       address, hash)
    SELECT ${tenantId}::uuid, * FROM unnest(
      ${column("number")}::bigint[], ${column("occurredAt")}::timestamptz[], ${column("actor")}::text[],
      ${column("clientId")}::uuid[], ${column("tokenId")}::uuid[], ${column("action")}::text[], ${column("object")}::text[],
      ${column("outcome")}::text[], ${column("code")}::text[], ${column("repeated")}::integer[],
      ${column("requestId")}::text[], ${column("address")}::text[], ${column("hash")}::bytea[])
  `);
  await tx.query(sql`
    UPDATE audit_heads SET number = ${number.toString()}, hash = ${Buffer.from(hash)} WHERE tenant_id = ${tenantId}
  `);
}
