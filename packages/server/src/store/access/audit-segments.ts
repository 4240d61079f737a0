import type { AuditBase, AuditHead } from "../../app/audit/audit-entry.js";
import { positionMac } from "../../app/audit/chain-hash.js";
import type { ChainEnds, Removal, SegmentStore } from "../../app/audit/segments/segment-store.js";
import { type Database, requireKeys, type Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import { appendAudit, createAuditStore } from "./audit.js";
import { type AuditRow, entryColumns, readEntries, type Stored } from "./audit-log/audit-rows.js";
import { keepOptOut } from "./single-administrator.js";

export function createSegmentStore(database: Database): SegmentStore {
  const { listAscending } = createAuditStore(database);

  async function readEnds(tenantId: string): Promise<ChainEnds | undefined> {
    // Both are served by their primary keys.
    const [head] = await database.query<Stored<AuditHead> & { checkpoint: string }>(sql`
      SELECT tenant_id AS "tenantId", number, hash, key_id AS "keyId", mac, opt_out_entry AS "optOut", checkpoint_number AS checkpoint
      FROM audit_heads WHERE tenant_id = ${tenantId}
    `);
    if (head === undefined) return undefined;
    const [base] = await database.query<Stored<AuditBase>>(sql`
      SELECT tenant_id AS "tenantId", number, hash, key_id AS "keyId", mac FROM audit_bases WHERE tenant_id = ${tenantId}
    `);
    const { checkpoint, ...position } = head;
    return {
      head: { ...position, number: BigInt(head.number) },
      checkpointNumber: BigInt(checkpoint),
      base: base && { ...base, number: BigInt(base.number) },
    };
  }

  /**
   * Entries are written in the order of their times, up to the moment for which they are buffered, so a binary search over the numbers
   * finds the place: about 30 lookups by the primary key instead of an index on the time.
   */
  async function findLastBefore(tenantId: string, time: Date, { head, base }: ChainEnds): Promise<bigint> {
    let before = base?.number ?? 0n;
    let after = head.number + 1n;
    while (after - before > 1n) {
      const middle = (before + after) / 2n;
      const [entry] = await listAscending(tenantId, 1, middle - 1n);
      if (entry !== undefined && entry.occurredAt < time) before = middle;
      else after = middle;
    }
    return before;
  }

  return {
    listAscending,
    readEnds,
    findLastBefore,
    findPowerlessRole: async () => {
      const [row] = await database.query<{ role: string; mayDelete: boolean }>(sql`
        SELECT current_user AS role, has_table_privilege('audit_entries', 'DELETE') AND
          has_table_privilege('audit_bases', 'INSERT') AND has_table_privilege('audit_bases', 'UPDATE') AS "mayDelete"
      `);
      return row?.mayDelete === false ? row.role : undefined;
    },
    remove: (removal) => database.transaction((tx) => removeEntries(tx, removal)),
  };
}

async function removeEntries(tx: Tx, { from, to, check, entry, now }: Removal): Promise<void> {
  await keepOptOut(tx, to.tenantId, to.number, now);
  // For this SQL transaction, the trigger that keeps the log append-only admits DELETE.
  await tx.query(sql`SELECT set_config('bursar.audit_prune', 'on', true)`);
  // A range of the primary key.
  const removed = await tx.query<AuditRow>(sql`
    DELETE FROM audit_entries
    WHERE tenant_id = ${to.tenantId} AND number > ${from.toString()} AND number <= ${to.number.toString()}
    RETURNING ${entryColumns}
  `);
  check(readEntries(removed).sort((a, b) => Number(a.number - b.number)));
  const { keyId, mac } = positionMac(requireKeys(tx), "base", to);
  const moved = await tx.query(sql`
    INSERT INTO audit_bases AS base (tenant_id, number, hash, key_id, mac, pruned_at)
    VALUES (${to.tenantId}, ${to.number.toString()}, ${Buffer.from(to.hash)}, ${keyId}, ${Buffer.from(mac)}, ${now})
    ON CONFLICT (tenant_id) DO UPDATE SET number = excluded.number, hash = excluded.hash, key_id = excluded.key_id,
      mac = excluded.mac, pruned_at = excluded.pruned_at
    WHERE base.number = ${from.toString()}
    RETURNING base.number
  `);
  if (moved.length === 0) throw new Error("another command has removed entries of this log at the same time");
  if (entry !== undefined) await appendAudit(tx, [entry]);
}
