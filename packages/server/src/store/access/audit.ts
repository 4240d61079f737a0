import {
  type AuditBase,
  type AuditDraft,
  type AuditHead,
  type AuditStore,
  type ChainedAuditEntry,
  describeAct,
  headChangedAction,
  isChainStart,
  nilTenantId,
} from "../../app/audit/audit-entry.js";
import { chainHash, chainStart, isPositionAuthentic, positionMac } from "../../app/audit/chain-hash.js";
import { type Database, type Queryable, requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";

/** PostgreSQL's bigint arrives as a string. */
type Stored<T> = Omit<T, "number"> & { number: string };
export type AuditRow = Stored<ChainedAuditEntry>;

export function readEntries(rows: readonly AuditRow[]): ChainedAuditEntry[] {
  return rows.map((row) => ({ ...row, number: BigInt(row.number) }));
}

export function createAuditStore(database: Database): AuditStore {
  return {
    append: async (drafts) => {
      await database.transaction((tx) => appendAudit(tx, drafts));
    },
    // Served by the primary key, read backwards.
    list: async (tenantId, limit, before) =>
      readEntries(
        await database.query<AuditRow>(sql`
          SELECT ${entryColumns} FROM audit_entries
          WHERE tenant_id = ${tenantId} ${before === undefined ? sql`` : sql`AND number < ${before.toString()}`}
          ORDER BY number DESC LIMIT ${limit}
        `),
      ),
    // Served by the primary key.
    listAscending: async (tenantId, limit, after) =>
      readEntries(
        await database.query<AuditRow>(sql`
          SELECT ${entryColumns} FROM audit_entries
          WHERE tenant_id = ${tenantId} AND number > ${after.toString()}
          ORDER BY number LIMIT ${limit}
        `),
      ),
    listHeads: async () => {
      const rows = await database.query<Stored<AuditHead>>(sql`
        SELECT tenant_id AS "tenantId", number, hash, key_id AS "keyId", mac FROM audit_heads ORDER BY tenant_id
      `);
      return rows.map((row) => ({ ...row, number: BigInt(row.number) }));
    },
    listBases: async () => {
      const rows = await database.query<Stored<AuditBase>>(sql`
        SELECT tenant_id AS "tenantId", number, hash, key_id AS "keyId", mac FROM audit_bases ORDER BY tenant_id
      `);
      return rows.map((row) => ({ ...row, number: BigInt(row.number) }));
    },
    // Served by the primary key.
    findRemovedTo: async (tenantId) => {
      const [base] = await database.query<{ number: string }>(sql`
        SELECT number FROM audit_bases WHERE tenant_id = ${tenantId}
      `);
      return base && BigInt(base.number);
    },
  };
}

export const entryColumns = sql`
    tenant_id AS "tenantId", number, occurred_at AS "occurredAt", actor, client_id AS "clientId", token_id AS "tokenId",
    action, object, objects, outcome, code, repeated, request_id AS "requestId", address, hash,
    key_id AS "keyId"
  `;

/**
 * Appends entries to the chains of their tenants, in the SQL transaction of the action that they describe. The heads stay locked until it
 * ends, so it locks no other rows afterwards, except the counters of the event log.
 */
export async function appendAudit(tx: Tx, drafts: readonly AuditDraft[]): Promise<void> {
  const byTenant = new Map<string, AuditDraft[]>();
  for (const draft of drafts) {
    const tenantId = draft.tenantId ?? nilTenantId;
    byTenant.set(tenantId, [...(byTenant.get(tenantId) ?? []), { ...draft, tenantId }]);
  }
  // Heads are locked in the order of their ids, so that two writers do not deadlock.
  for (const tenantId of [...byTenant.keys()].sort()) {
    const head = await lockHead(tx, tenantId);
    const own = byTenant.get(tenantId) ?? [];
    const isAuthentic =
      head.number === 0n
        ? isChainStart(tenantId, own[0]?.action ?? "")
        : isPositionAuthentic(requireKeys(tx), "head", head);
    await appendToChain(tx, head, isAuthentic ? own : [headChanged(head, own), ...own]);
  }
}

/**
 * Starts to key the chains that are not yet: an entry that is keyed covers the hash of the last one that is not. Called once for each
 * database, because later it would accept a chain that somebody else has written.
 */
export async function keyChains(tx: Tx, now: Date): Promise<void> {
  const heads = await tx.query<{ tenantId: string }>(sql`
    SELECT tenant_id AS "tenantId" FROM audit_heads WHERE number > 0 ORDER BY tenant_id
  `);
  for (const { tenantId } of heads) {
    const head = await lockHead(tx, tenantId);
    const object = `entry ${head.number}`;
    await appendToChain(tx, head, [describeAct({ by: "operator", tenantId }, "audit.key", object, now)]);
  }
}

/** With the time of the entries that found it. */
function headChanged({ tenantId, number }: AuditHead, [first]: readonly AuditDraft[]): AuditDraft {
  const origin = { by: "operator", tenantId } as const;
  const entry = describeAct(origin, headChangedAction, `entry ${number}`, first?.occurredAt ?? new Date(0));
  return { ...entry, actor: "anonymous", outcome: "refused", code: "HEAD_MAC_INVALID" };
}

/** Served by the primary key. */
async function lockHead(tx: Queryable, tenantId: string): Promise<AuditHead> {
  const start = Buffer.from(chainStart);
  // A head with number 0 is inserted first, so that there is a row to lock.
  await tx.query(
    sql`INSERT INTO audit_heads (tenant_id, number, hash) VALUES (${tenantId}, 0, ${start}) ON CONFLICT DO NOTHING`,
  );
  const [head] = await tx.query<Stored<AuditHead>>(sql`
    SELECT tenant_id AS "tenantId", number, hash, key_id AS "keyId", mac FROM audit_heads
    WHERE tenant_id = ${tenantId} FOR UPDATE
  `);
  if (head === undefined) throw new Error("the head of a chain was removed while it was locked");
  return { ...head, number: BigInt(head.number) };
}

async function appendToChain(
  tx: Tx,
  { tenantId, ...head }: AuditHead,
  drafts: readonly AuditDraft[],
): Promise<void> {
  const keys = requireKeys(tx);
  const keyId = keys.currentId;
  let { number, hash } = head;
  const chained = drafts.map((draft) => {
    number += 1n;
    const next = chainHash(keys, keyId, hash, number, draft);
    if (next === undefined) throw new Error("the current master key is missing");
    hash = next;
    return { ...draft, number: number.toString(), hash: Buffer.from(hash) };
  });
  const column = <Key extends keyof (typeof chained)[number]>(key: Key) => chained.map((entry) => entry[key]);
  await tx.query(sql`
    INSERT INTO audit_entries
      (tenant_id, key_id, number, occurred_at, actor, client_id, token_id, action, object, outcome, code, repeated, request_id,
       address, hash, objects)
    SELECT ${tenantId}::uuid, ${keyId}::text, number, occurred_at, actor, client_id, token_id, action, object, outcome, code, repeated, request_id,
      address, hash, string_to_array(objects, ' ')
    FROM unnest(
      ${column("number")}::bigint[], ${column("occurredAt")}::timestamptz[], ${column("actor")}::text[],
      ${column("clientId")}::uuid[], ${column("tokenId")}::uuid[], ${column("action")}::text[], ${column("object")}::text[],
      ${column("outcome")}::text[], ${column("code")}::text[], ${column("repeated")}::integer[],
      ${column("requestId")}::text[], ${column("address")}::text[], ${column("hash")}::bytea[],
      ${chained.map(({ objects }) => objects?.join(" ") ?? null)}::text[]
    ) AS entry (number, occurred_at, actor, client_id, token_id, action, object, outcome, code, repeated, request_id, address,
      hash, objects)
  `);
  const { mac } = positionMac(keys, "head", { tenantId, number, hash });
  await tx.query(sql`
    UPDATE audit_heads SET number = ${number.toString()}, hash = ${Buffer.from(hash)}, key_id = ${keyId}, mac = ${Buffer.from(mac)}
    WHERE tenant_id = ${tenantId}
  `);
  tx.witness({
    kind: "audit entry",
    tenantId,
    at: Number(number),
    mark: Buffer.from(hash).toString("hex"),
  });
}
