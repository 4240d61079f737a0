import type { AuditHead } from "../../../app/audit/audit-entry.js";
import { chainStart } from "../../../app/audit/chain-hash.js";
import type { SqlTransaction } from "../../../runtime/database/commit-doubts.js";
import type { Tx } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import type { Stored } from "./audit-rows.js";

export interface LockedHead extends AuditHead {
  /** The lowest number after it that is in the database; null in a chain that nobody has disturbed. */
  next: string | null;
  /** The last entry of the chain that this process has committed in this epoch; 0 if it knows none. */
  knownNumber: bigint;
  /** The head is before that entry, or another one has its number: entries were removed, with a head of then, whose MAC is valid. */
  isPutBack: boolean;
  /** The last entry of an earlier epoch that this process has committed, if the chain does not have it any more. */
  lostTo: bigint | undefined;
  /** The SQL transaction that has locked it. */
  transaction: SqlTransaction;
}

interface HeadRow extends Stored<AuditHead> {
  next: string | null;
  transaction: SqlTransaction;
  removedTo: string;
  /** Of the entry that was asked for. */
  knownHash: string | null;
}

type KnownEntry = ReturnType<Tx["entries"]["lastEntry"]>;

/**
 * Locks heads in the order of their ids, so that two writers do not deadlock. What this process has committed to the chains is read twice:
 * while this waits for a lock, another transaction of the process can commit an entry, and the owner of the tables can remove it.
 */
export async function lockHeads(tx: Tx, tenantIds: readonly string[]): Promise<LockedHead[]> {
  const ids = tenantIds.toSorted();
  // Heads with number 0 are inserted first, so that there are rows to lock.
  await tx.query(sql`
    INSERT INTO audit_heads (tenant_id, number, hash)
    SELECT id, 0, ${Buffer.from(chainStart)}::bytea FROM unnest(${ids}::uuid[]) AS wanted (id) ORDER BY id ON CONFLICT DO NOTHING
  `);
  const before = ids.map(tx.entries.lastEntry);
  const rows = await readHeads(tx, ids, before);
  await settleDoubts(tx, ids);
  const known = ids.map(tx.entries.lastEntry);
  const isAnswered = rows.every((row, index) => {
    const last = known[index];
    return isSame(before[index], last) || isHead(row, last);
  });
  if (!isAnswered) return (await readHeads(tx, ids, known)).map((row, index) => judge(row, known[index]));
  // What was committed meanwhile is the head, nearly always.
  return rows.map((row, index) => {
    const last = known[index];
    return judge(isSame(before[index], last) ? row : { ...row, knownHash: last?.mark ?? null }, last);
  });
}

/**
 * A statement that has waited for a lock sees the new head and the entries from before, so it takes no entry of another writer for a
 * disturbance. Served by the primary keys.
 */
async function readHeads(tx: Tx, ids: readonly string[], known: readonly KnownEntry[]): Promise<HeadRow[]> {
  const numbers = known.map((entry) => String(entry?.at ?? 0));
  const rows = await tx.query<HeadRow>(sql`
    SELECT h.tenant_id AS "tenantId", h.number, h.hash, h.key_id AS "keyId", h.mac, h.opt_out_entry AS "optOut", (
        SELECT e.number FROM audit_entries e WHERE e.tenant_id = h.tenant_id AND e.number > h.number
        ORDER BY e.number LIMIT 1) AS next, (
        SELECT encode(e.hash, 'hex') FROM audit_entries e WHERE e.tenant_id = h.tenant_id
          AND e.number = (${numbers}::bigint[])[array_position(${ids}::uuid[], h.tenant_id)]) AS "knownHash",
      coalesce((SELECT b.number FROM audit_bases b WHERE b.tenant_id = h.tenant_id), 0) AS "removedTo",
      json_build_object('id', pg_current_xact_id()::text, 'serverStartedUs', ${serverStartedUs},
        'begunUs', (extract(epoch FROM now()) * 1000000)::bigint::text) AS transaction
    FROM audit_heads h WHERE h.tenant_id = ANY (${ids}::uuid[]) ORDER BY h.tenant_id FOR UPDATE OF h
  `);
  if (rows.length !== ids.length) throw new Error("the head of a chain was removed while it was locked");
  return rows;
}

/**
 * Finds out what became of the entries whose COMMIT this process has sent, without an answer yet or at all. They held the locks that this
 * transaction has, so they have ended. The server knows how, also if the owner of the tables has removed what they have written. Served by
 * the primary key.
 *
 * After a restart, a crash, a restore or a failover, the id of a transaction can be that of another one. Then an entry counts as committed
 * if it is in its chain. A crash of one backend does not start the server again, but ends all others and resets the statistics.
 */
async function settleDoubts(tx: Tx, ids: readonly string[]): Promise<void> {
  const doubts = ids.flatMap(tx.entries.entriesInDoubt);
  if (doubts.length === 0) return;
  const sent = doubts.map(({ transaction }) => transaction);
  const rows = await tx.query<{ status: string }>(sql`
    SELECT coalesce(
      CASE WHEN started_us = ${serverStartedUs}
          AND begun_us > (SELECT extract(epoch FROM stats_reset) * 1000000 FROM pg_stat_bgwriter)
          AND id < pg_snapshot_xmax(pg_current_snapshot())
        THEN pg_xact_status(id) END,
      (SELECT 'committed' FROM audit_entries e
        WHERE e.tenant_id = sent.tenant_id AND e.number = sent.number AND e.hash = sent.hash),
      'aborted') AS status
    FROM unnest(
      ${sent.map(({ id }) => id)}::xid8[], ${sent.map((one) => one.serverStartedUs)}::text[],
      ${sent.map(({ begunUs }) => begunUs)}::bigint[], ${doubts.map(({ tenantId }) => tenantId)}::uuid[],
      ${doubts.map(({ at }) => String(at))}::bigint[], ${doubts.map(({ mark }) => Buffer.from(mark, "hex"))}::bytea[]
    ) WITH ORDINALITY AS sent (id, started_us, begun_us, tenant_id, number, hash, place) ORDER BY place
  `);
  for (const [index, entry] of doubts.entries()) {
    const status = rows[index]?.status;
    if (status !== "in progress") tx.entries.settle(entry, status === "committed");
  }
}

const serverStartedUs = sql`(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text`;

function judge({ knownHash, removedTo, ...row }: HeadRow, last: KnownEntry): LockedHead {
  const knownNumber = BigInt(last?.at ?? 0);
  const number = BigInt(row.number);
  // An entry that was exported and removed has no hash.
  const isRemoved = knownHash === null && knownNumber <= BigInt(removedTo);
  const isOther = last !== undefined && !isRemoved && knownHash !== last.mark;
  const isMissing = number < knownNumber || isOther;
  return last?.isOfEarlierEpoch === true
    ? { ...row, number, knownNumber: 0n, isPutBack: false, lostTo: isMissing ? knownNumber : undefined }
    : { ...row, number, knownNumber, isPutBack: isMissing, lostTo: undefined };
}

function isSame(one: KnownEntry, other: KnownEntry): boolean {
  return one?.at === other?.at && one?.mark === other?.mark;
}

function isHead({ number, hash }: HeadRow, entry: KnownEntry): boolean {
  return String(entry?.at) === number && entry?.mark === Buffer.from(hash).toString("hex");
}
