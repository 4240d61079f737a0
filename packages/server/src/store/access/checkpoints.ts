import { nilTenantId } from "../../app/audit/audit-entry.js";
import { isPositionAuthentic } from "../../app/audit/chain-hash.js";
import { type Checkpoint, signCheckpoint } from "../../app/audit/checkpoint.js";
import { type Database, requireKeys } from "../core/database.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";

interface HeadRow {
  tenantId: string;
  number: string;
  hash: Buffer;
  keyId: string | null;
  mac: Buffer | null;
}

/** A chain whose head does not have the right MAC is not signed: its last entries may have been removed. */
type PublishedCheckpoint = Checkpoint | { untrustedTenantId: string };

/**
 * Signs the head of one chain that has grown since its last checkpoint, which is not younger than `notSince`, and appends the event, in
 * one SQL transaction. Several processes can do so at once: each takes another chain. Undefined if there is none. Served by
 * audit_heads_without_checkpoint.
 */
export async function publishCheckpoint(
  database: Database,
  events: EventLog,
  { newUuid, notSince, now }: { newUuid: () => string; notSince: Date; now: Date },
): Promise<PublishedCheckpoint | undefined> {
  return await database.transaction(async (tx) => {
    const [row] = await tx.query<HeadRow>(sql`
      UPDATE audit_heads SET checkpoint_number = number, checkpoint_at = ${now}
      WHERE tenant_id = (
        SELECT tenant_id FROM audit_heads WHERE number > checkpoint_number AND checkpoint_at < ${notSince}
        ORDER BY checkpoint_at LIMIT 1 FOR UPDATE SKIP LOCKED)
      RETURNING tenant_id AS "tenantId", number, hash, key_id AS "keyId", mac, opt_out_entry AS "optOut"
    `);
    if (row === undefined) return undefined;
    const head = { ...row, number: BigInt(row.number) };
    const keys = requireKeys(tx);
    if (!isPositionAuthentic(keys, "head", head)) return { untrustedTenantId: head.tenantId };
    const checkpoint = signCheckpoint(keys, head, now);
    // The chain that belongs to no tenant has no readers of events.
    if (head.tenantId === nilTenantId) return checkpoint;
    const event = {
      tenantId: head.tenantId,
      event: "audit.checkpoint",
      subjectId: newUuid(),
      version: 1,
      state: "signed",
      previousState: "none",
      failureCode: null,
      details: checkpoint,
      occurredAt: now,
    } as const;
    await events.append(tx, [event]);
    return checkpoint;
  });
}
