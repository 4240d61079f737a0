import type { IntegrityKeys } from "../../../app/access/integrity-keys.js";
import { headChangedAction, type ListedAuditEntry } from "../../../app/audit/audit-entry.js";
import { chainHash } from "../../../app/audit/chain-hash.js";
import { isEntryAuthentic } from "../../../app/audit/entry-authenticity.js";
import type { Queryable } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { listEntries } from "./audit-rows.js";

interface LinkedEntries {
  /** By key: the number of the last entry that it has authenticated, and that later entries continue. */
  last: ReadonlyMap<string, bigint>;
  /** The entry that does not continue the one before it, or was inserted after the head; undefined if everything was found, or read. */
  brokenAt: bigint | undefined;
}

const pageSize = 1000;

/**
 * The last entries that keys have authenticated, each up to a number, as far as every later entry of the chain continues them. What was inserted
 * in the place of an entry that was removed is not continued by the next one. From the head backwards, until all are found: ranges of the primary
 * key, which a reseal can afford.
 */
export async function findLinkedEntries(
  source: Queryable,
  keys: IntegrityKeys,
  tenantId: string,
  wanted: ReadonlyMap<string, bigint>,
): Promise<LinkedEntries> {
  const last = new Map<string, bigint>();
  const { head, stray } = await readEnd(source, tenantId);
  // A head that was put back into such a place has entries after it.
  if (stray !== undefined) return { last, brokenAt: stray };
  let expected = head;
  let before = head + 1n;
  /** An entry about a disturbance, which continues the one before that. */
  let open: ListedAuditEntry | undefined;
  /** Such an entry continues one that was inserted: the chain goes on with the last authentic one before it. */
  let isResuming = false;
  const note = ({ keyId, number }: ListedAuditEntry) => {
    const upTo = keyId === null ? undefined : wanted.get(keyId);
    if (keyId !== null && upTo !== undefined && number <= upTo && !last.has(keyId)) last.set(keyId, number);
  };
  while (last.size < wanted.size) {
    const page = await listEntries(source, tenantId, pageSize, before);
    for (const entry of page) {
      const isAuthentic = isEntryAuthentic(keys, entry, "anywhere");
      const isAfterDisturbance = open !== undefined;
      // What the disturbance has inserted is passed over.
      if (isResuming && !isAuthentic) continue;
      if (open !== undefined && !continues(keys, open, entry.hash)) continue;
      if (open === undefined && !isResuming && entry.number !== expected) return { last, brokenAt: expected };
      if (open !== undefined) note(open);
      open = entry.action === headChangedAction && entry.number !== 1n ? entry : undefined;
      isResuming = isAfterDisturbance && !isAuthentic;
      if (!isAuthentic && !isResuming) return { last, brokenAt: entry.number };
      if (open === undefined && isAuthentic) note(entry);
      expected = entry.number - 1n;
    }
    before = page.at(-1)?.number ?? 0n;
    if (page.length < pageSize) return { last, brokenAt: open?.number };
  }
  return { last, brokenAt: undefined };
}

function continues(
  keys: IntegrityKeys,
  { previous: _, number, hash, keyId, ...entry }: ListedAuditEntry,
  previousHash: Uint8Array,
): boolean {
  const expected = keyId === null ? undefined : chainHash(keys, keyId, previousHash, number, entry);
  return expected !== undefined && Buffer.compare(expected, hash) === 0;
}

/** In one statement, so that an entry which is being appended is not after the head. Served by the primary keys. */
async function readEnd(
  source: Queryable,
  tenantId: string,
): Promise<{ head: bigint; stray: bigint | undefined }> {
  const [row] = await source.query<{ number: string; stray: string | null }>(sql`
    SELECT h.number, (
      SELECT e.number FROM audit_entries e WHERE e.tenant_id = h.tenant_id AND e.number > h.number ORDER BY e.number LIMIT 1) AS stray
    FROM audit_heads h WHERE h.tenant_id = ${tenantId}
  `);
  if (row === undefined) throw new Error("the head of a chain was removed");
  return { head: BigInt(row.number), stray: row.stray === null ? undefined : BigInt(row.stray) };
}
