import type { AuditDraft } from "../../app/audit/audit-entry.js";
import { isPositionAuthentic } from "../../app/audit/chain-hash.js";
import { describeActOnTenant } from "../../app/audit/operator-entries.js";
import { type KeyedQueryable, requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { appendAudit } from "./audit.js";
import { isRowAuthentic, macOfRow, type RowMac } from "./row-integrity.js";

/** The columns of a tenant that say whether it has one administrator. Numbers of entries are strings, as PostgreSQL sends them. */
export interface SingleAdministratorColumns extends RowMac {
  tenantId: string;
  isSingleAdministrator: boolean;
  /** The number of the audit entry that the opt-out was recorded with. */
  entry: string | null;
  /** The number of the last audit entry about it. */
  lastEntry: string | null;
  /** The end of the audit log; null if it is not needed. */
  head: HeadColumns | null;
}

interface HeadColumns {
  number: string;
  hash: string;
  keyId: string | null;
  mac: string | null;
  optOut: string | null;
  /** Whether there are entries after it. */
  isBehind: boolean;
}

/** Served by the primary keys. */
const head = sql`(
  SELECT jsonb_build_object('number', h.number::text, 'hash', encode(h.hash, 'hex'), 'keyId', h.key_id,
    'mac', encode(h.mac, 'hex'), 'optOut', h.opt_out_entry::text,
    'isBehind', EXISTS (SELECT FROM audit_entries e WHERE e.tenant_id = h.tenant_id AND e.number > h.number))
  FROM audit_heads h WHERE h.tenant_id = t.id)`;

/** Entries that are back although they were removed do not count. Served by audit_entries_opt_outs and the primary key of audit_bases. */
const lastEntry = sql`(
  SELECT e.number FROM audit_entries e
  WHERE e.tenant_id = t.id AND e.action IN ('tenant.single_administrator_on', 'tenant.single_administrator_off')
    AND e.number > coalesce((SELECT b.number FROM audit_bases b WHERE b.tenant_id = t.id), 0)
  ORDER BY e.number DESC LIMIT 1)`;

export const selectSingleAdministrator = sql`
  t.id AS "tenantId", t.single_administrator AS "isSingleAdministrator", t.settings_key_id AS "keyId", t.settings_mac AS mac,
  t.settings_entry AS entry, CASE WHEN t.single_administrator THEN ${lastEntry} END AS "lastEntry",
  CASE WHEN t.single_administrator THEN ${head} END AS head
`;

/**
 * Whether the operator has opted the tenant out. A writer to the database could otherwise do so, and any client that manages clients
 * could then become an approver. To be opted in needs no proof, because that is the stricter side. The MAC covers the number of the
 * audit entry: an opt-out that the operator has ended is not valid again if its row is put back, because the log has a later entry. The
 * head of the log names the last entry about it too, so that it is not enough to take the later entry out for a moment.
 */
export function readSingleAdministrator(source: KeyedQueryable, row: SingleAdministratorColumns): boolean {
  const { isSingleAdministrator, tenantId, entry } = row;
  return (
    isSingleAdministrator &&
    entry !== null &&
    entry === row.lastEntry &&
    isLastInHead(source, row, entry) &&
    isRowAuthentic(requireKeys(source), "tenant row", contentOf(tenantId, entry), row)
  );
}

function isLastInHead(source: KeyedQueryable, { tenantId, head }: SingleAdministratorColumns, entry: string) {
  if (head === null || head.isBehind || head.optOut !== entry || head.mac === null) return false;
  const { number, hash, keyId, mac, optOut } = head;
  return isPositionAuthentic(requireKeys(source), "head", {
    tenantId,
    number: BigInt(number),
    hash: Buffer.from(hash, "hex"),
    keyId,
    mac: Buffer.from(mac, "hex"),
    optOut,
  });
}

/** With its audit entry. Served by the primary key. False if there is no such tenant. */
export async function writeSingleAdministrator(
  tx: Tx,
  tenantId: string,
  isOn: boolean,
  audit: AuditDraft,
): Promise<boolean> {
  const changed = await tx.query(sql`
    UPDATE tenants SET single_administrator = ${isOn}, settings_entry = NULL, settings_key_id = NULL, settings_mac = NULL
    WHERE id = ${tenantId} RETURNING id
  `);
  if (changed.length === 0) return false;
  await appendAudit(tx, [
    { ...audit, action: isOn ? "tenant.single_administrator_on" : "tenant.single_administrator_off" },
  ]);
  if (isOn) await sealLastEntry(tx, tenantId);
  return true;
}

async function sealLastEntry(tx: Tx, tenantId: string): Promise<void> {
  const [last] = await tx.query<{ entry: string | null }>(
    sql`SELECT ${lastEntry} AS entry FROM tenants t WHERE t.id = ${tenantId}`,
  );
  if (last?.entry == null) throw new Error("the audit entry of an opt-out is missing");
  writeMac(tx, tenantId, last.entry);
}

function writeMac(tx: Tx, tenantId: string, entry: string): void {
  const { keyId, mac } = macOfRow(requireKeys(tx), "tenant row", contentOf(tenantId, entry));
  tx.send(sql`
    UPDATE tenants SET settings_entry = ${entry}, settings_key_id = ${keyId}, settings_mac = ${mac} WHERE id = ${tenantId}
  `);
}

/** Writes the MACs of opted-out tenants with the current key. They are few. */
export async function resealTenants(tx: Tx): Promise<void> {
  const rows = await tx.query<SingleAdministratorColumns>(sql`
    SELECT ${selectSingleAdministrator} FROM tenants t WHERE t.single_administrator ORDER BY t.id FOR NO KEY UPDATE OF t
  `);
  for (const row of rows)
    if (row.entry !== null && readSingleAdministrator(tx, row)) writeMac(tx, row.tenantId, row.entry);
}

/**
 * Before entries up to a number are removed from the log: an opt-out that one of them records is recorded again. Served by the primary
 * key.
 */
export async function keepOptOut(tx: Tx, tenantId: string, removedTo: bigint, now: Date): Promise<void> {
  const [row] = await tx.query<SingleAdministratorColumns>(sql`
    SELECT ${selectSingleAdministrator} FROM tenants t
    WHERE t.id = ${tenantId} AND t.settings_entry <= ${removedTo.toString()} FOR NO KEY UPDATE OF t
  `);
  if (row === undefined || !readSingleAdministrator(tx, row)) return;
  const audit = describeActOnTenant(tenantId, "tenant.single_administrator_on", now);
  await writeSingleAdministrator(tx, tenantId, true, audit);
}

function contentOf(tenantId: string, entry: string): object {
  return { tenantId, isSingleAdministrator: true, entry };
}
