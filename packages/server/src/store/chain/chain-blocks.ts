import type { SeenHeads } from "../../app/chain/chain-status.js";
import type { FollowedBlock, NetworkLease, NetworkPosition } from "../../app/chain/chain-store.js";
import { aheadCodes, type Halt } from "../../app/chain/halt.js";
import { appendAudit } from "../access/audit.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { isHeld } from "../core/rows/leases.js";
import { sql } from "../core/sql.js";
import { networkLeases } from "./network-leases.js";
import { currentEpoch } from "./wallets/confirmed-wallets.js";

/** Of two processes that register a network, the first one decides where it begins. Conflicts are served by the primary keys. */
export async function register(
  database: Database,
  network: string,
  genesisHash: string,
  settled: FollowedBlock,
): Promise<void> {
  const { number, hash, parentHash } = settled;
  await database.query(sql`
    WITH added AS (
      INSERT INTO networks (network, genesis_hash, head_number, final_number, settled_number)
      VALUES (${network}, ${genesisHash}, ${number}, ${number}, ${number}) ON CONFLICT DO NOTHING RETURNING network)
    INSERT INTO chain_blocks (network, number, hash, parent_hash) SELECT network, ${number}::bigint, ${hash}, ${parentHash} FROM added
  `);
}

/** Served by the primary key. Every process that does not hold the lease asks each second. */
export async function isRegistered(database: Queryable, network: string): Promise<boolean> {
  const rows = await database.query(sql`SELECT FROM networks WHERE network = ${network}`);
  return rows.length > 0;
}

/** Served by the primary keys. */
export async function readPosition(
  database: Queryable,
  network: string,
): Promise<NetworkPosition | undefined> {
  const [row] = await database.query<{
    genesisHash: string;
    haltedReason: string | null;
    settledNumber: string;
    tail: FollowedBlock[];
  }>(sql`
    SELECT n.genesis_hash AS "genesisHash", n.halted_reason AS "haltedReason", n.settled_number AS "settledNumber", coalesce((
      SELECT json_agg(json_build_object('number', b.number, 'hash', b.hash, 'parentHash', b.parent_hash) ORDER BY b.number)
      FROM chain_blocks b WHERE b.network = n.network AND b.number >= n.settled_number), '[]') AS tail
    FROM networks n WHERE n.network = ${network}
  `);
  return row === undefined ? undefined : { ...row, settledNumber: Number(row.settledNumber) };
}

/**
 * Served by the primary key. Written by a process that has lost the lease, it would show an old head, so the fence is checked. A block that was
 * seen before a silence of the nodes keeps its time.
 */
export async function recordHeads(
  database: Queryable,
  lease: NetworkLease,
  { headNumber, finalNumber, baseFee, seenAt }: SeenHeads,
): Promise<void> {
  await database.query(sql`
    UPDATE networks l SET head_number = ${headNumber}, final_number = ${finalNumber}, base_fee = ${baseFee.toString()}::numeric,
      seen_at = CASE WHEN l.unreachable_since IS NOT NULL AND l.head_number = ${headNumber} THEN l.seen_at ELSE ${seenAt} END,
      unreachable_since = NULL
    WHERE ${isHeld(networkLeases, lease)}
  `);
}

/** Served by the primary key. The first moment stays, also for the process that takes over. */
export async function recordSilence(database: Queryable, lease: NetworkLease, since: Date): Promise<void> {
  await database.query(sql`
    UPDATE networks l SET unreachable_since = ${since}
    WHERE ${isHeld(networkLeases, lease)} AND l.unreachable_since IS NULL
  `);
}

/** Served by the primary key. */
export async function recordStall(
  database: Queryable,
  lease: NetworkLease,
  stall: { since: Date; reason: string } | null,
): Promise<void> {
  if (stall === null)
    await database.query(sql`
      UPDATE networks l SET stalled_since = NULL, stalled_reason = NULL
      WHERE ${isHeld(networkLeases, lease)} AND l.stalled_since IS NOT NULL
    `);
  else
    await database.query(sql`
      UPDATE networks l SET stalled_since = coalesce(l.stalled_since, ${stall.since}), stalled_reason = ${stall.reason}
      WHERE ${isHeld(networkLeases, lease)}
    `);
}

/** The primary key refuses a block in the place of another. */
export function appendBlocks(tx: Tx, network: string, blocks: readonly FollowedBlock[]): void {
  if (blocks.length === 0) return;
  tx.send(sql`
    INSERT INTO chain_blocks (network, number, hash, parent_hash) SELECT ${network}, given.* FROM unnest(
      ${blocks.map(({ number }) => number)}::bigint[], ${blocks.map(({ hash }) => hash)}::text[],
      ${blocks.map(({ parentHash }) => parentHash)}::text[]) AS given
  `);
}

/** Served by the primary key. */
export function removeBlocks(tx: Tx, network: string, above: number): void {
  tx.send(sql`DELETE FROM chain_blocks WHERE network = ${network} AND number > ${above}`);
}

/** Served by the primary keys. */
export function settle(tx: Tx, network: string, number: number): void {
  tx.send(sql`UPDATE networks SET settled_number = ${number} WHERE network = ${network}`);
  tx.send(sql`DELETE FROM chain_blocks WHERE network = ${network} AND number < ${number}`);
}

/** Served by the primary key. */
export async function haltNetwork(tx: Tx, network: string, { reason, at, entry }: Halt): Promise<void> {
  tx.send(sql`
    UPDATE networks SET state = 'halted', halted_reason = ${reason}, halted_at = ${at} WHERE network = ${network}
  `);
  await appendAudit(tx, [entry]);
}

/**
 * Served by the primary key. A statement that was made after the wallet was compared is left for the next comparison. That settling failed
 * is always recorded, because it decides what is settled. If the chain or the signer is ahead, the wallet is confirmed again when it goes on.
 */
export async function haltWallet(
  tx: Tx,
  { tenantId, walletId }: { tenantId: string; walletId: string },
  { code, reason, at, entry }: Halt,
  statedNonce: number | null,
): Promise<boolean> {
  const halted = await tx.query(sql`
    UPDATE chain_wallets SET halted_code = ${code}, halted_reason = ${reason}, halted_at = ${at}, stated_nonce = NULL,
      confirmed_epoch = CASE
        WHEN ${code} = ANY (${[...aheadCodes]}::text[]) AND confirmed_epoch >= ${currentEpoch} THEN -confirmed_epoch ELSE confirmed_epoch END
    WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId}
      AND (halted_reason IS NULL OR stated_nonce = ${statedNonce}::bigint OR ${code === "SETTLEMENT_FAILED"}::boolean)
    RETURNING wallet_id
  `);
  if (halted.length > 0) {
    await appendAudit(tx, [entry]);
    return true;
  }
  const known = await tx.query(sql`
    SELECT 1 FROM chain_wallets WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId}
  `);
  return known.length > 0;
}
