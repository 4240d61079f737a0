import type { AuditDraft } from "../../app/audit/audit-entry.js";
import { operatorActorId } from "../../app/events/actor.js";
import { appendAudit } from "../access/audit.js";
import type { Database } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
import { requestCancel } from "../transactions/request-cancels.js";
import { freeNonce } from "./wallets/free-nonce.js";

export interface ListedNetwork {
  network: string;
  headNumber: number;
  finalNumber: number;
  settledNumber: number;
  haltedReason: string | null;
  haltedAt: Date | null;
  unreachableSince: Date | null;
  stalledSince: Date | null;
  stalledReason: string | null;
}

/** All of them; a service has a handful. */
export async function listNetworks(database: Database): Promise<ListedNetwork[]> {
  const rows = await database.query<
    Record<keyof ListedNetwork, string> &
      Pick<ListedNetwork, "haltedAt" | "unreachableSince" | "stalledSince" | "stalledReason">
  >(sql`
    SELECT network, head_number AS "headNumber", final_number AS "finalNumber", settled_number AS "settledNumber",
      halted_reason AS "haltedReason", halted_at AS "haltedAt", unreachable_since AS "unreachableSince",
      stalled_since AS "stalledSince", stalled_reason AS "stalledReason"
    FROM networks ORDER BY network
  `);
  return rows.map((row) => ({
    ...row,
    headNumber: Number(row.headNumber),
    finalNumber: Number(row.finalNumber),
    settledNumber: Number(row.settledNumber),
  }));
}

/** `unchanged`: it was not halted. */
export type ResumeOutcome = "resumed" | "unchanged" | "unknown";

/**
 * Ends the halt of a network. Its blocks are forgotten, so that the driver begins again at the settled block, as the chain has it now: what
 * was in later blocks is followed again. Served by the primary keys.
 */
export function resumeNetwork(
  database: Database,
  network: string,
  entry: AuditDraft,
): Promise<ResumeOutcome> {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<{ isHalted: boolean }>(sql`
      SELECT state = 'halted' AS "isHalted" FROM networks WHERE network = ${network} FOR UPDATE
    `);
    if (row === undefined) return "unknown";
    if (!row.isHalted) return "unchanged";
    await tx.query(sql`
      UPDATE networks SET state = 'following', halted_reason = NULL, halted_at = NULL WHERE network = ${network}
    `);
    await tx.query(sql`DELETE FROM chain_blocks WHERE network = ${network}`);
    await appendAudit(tx, [entry]);
    return "resumed";
  });
}

/**
 * Records how many transactions of a halted wallet are final, as the operator states it. It stays halted until the driver has compared it with
 * the chain; if that says the same, the books follow the chain and it goes on. Served by the primary key. If the database is older than the
 * chain, payments that wait may be on it already, so the operator must say that those are to be paid.
 */
export async function stateNonce(
  database: Database,
  wallet: { tenantId: string; walletId: string },
  { nonce, paysWaiting }: { nonce: number; paysWaiting: boolean },
  entry: AuditDraft,
): Promise<"stated" | "unchanged" | "unknown" | { waiting: readonly WaitingPayment[] }> {
  const waiting = paysWaiting ? [] : await listWaiting(database, wallet);
  if (waiting.length > 0) return { waiting };
  return await changeHalted(database, wallet, sql`stated_nonce = ${nonce}`, entry, "stated");
}

export interface WaitingPayment {
  id: string;
  /** It ends as cancelled when the wallet goes on, also if it is on the chain. */
  cancelRequested: boolean;
}

const waitingShownMax = 100;

/** The payments of a halted wallet that have no nonce yet. Served by chain_payments_ready and the primary key. */
async function listWaiting(
  database: Database,
  { tenantId, walletId }: { tenantId: string; walletId: string },
): Promise<WaitingPayment[]> {
  return await database.query<WaitingPayment>(sql`
    SELECT p.transaction_id AS id, o.cancel_requested AS "cancelRequested" FROM chain_wallets w
    JOIN chain_payments p ON p.network = w.network AND p.wallet_id = w.wallet_id AND p.stage = 'ready'
    JOIN open_transactions o ON o.tenant_id = p.tenant_id AND o.id = p.transaction_id
    WHERE w.tenant_id = ${tenantId} AND w.wallet_id = ${walletId} AND w.halted_reason IS NOT NULL
    ORDER BY p.transaction_id LIMIT ${waitingShownMax}
  `);
}

/**
 * Ends the halt of a wallet, and withdraws a nonce that was stated. What could not be settled is settled with the next block. Then it is compared with the chain, and halted again if
 * the reason still holds. Served by the primary key.
 */
export function resumeWallet(
  database: Database,
  wallet: { tenantId: string; walletId: string },
  entry: AuditDraft,
): Promise<ResumeOutcome> {
  return changeHalted(
    database,
    wallet,
    sql`halted_code = NULL, halted_reason = NULL, halted_at = NULL, stated_nonce = NULL`,
    entry,
    "resumed",
  );
}

/** Changes a wallet if it is halted, and lets the driver compare it with the chain again. */
function changeHalted<Done extends string>(
  database: Database,
  { tenantId, walletId }: { tenantId: string; walletId: string },
  assignments: Statement,
  entry: AuditDraft,
  done: Done,
): Promise<Done | "unchanged" | "unknown"> {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<{ isHalted: boolean }>(sql`
      SELECT halted_reason IS NOT NULL AS "isHalted" FROM chain_wallets
      WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId} FOR UPDATE
    `);
    if (row === undefined) return "unknown";
    if (!row.isHalted) return "unchanged";
    await tx.query(sql`
      UPDATE chain_wallets SET ${assignments}, compared_number = -1
      WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId}
    `);
    await appendAudit(tx, [entry]);
    return done;
  });
}

/** Whether a transaction that has not ended has a nonce; undefined if there is none. Served by the primary keys. */
export async function findOpen(
  database: Database,
  { tenantId, id }: { tenantId: string; id: string },
): Promise<{ hasNonce: boolean } | undefined> {
  const [row] = await database.query<{ hasNonce: boolean }>(sql`
    SELECT p.nonce IS NOT NULL AS "hasNonce" FROM open_transactions o
    LEFT JOIN chain_payments p ON p.tenant_id = o.tenant_id AND p.transaction_id = o.id
    WHERE o.tenant_id = ${tenantId} AND o.id = ${id}
  `);
  return row;
}

/** Whether no payment of a wallet has this nonce: it was not given yet, or was taken back. Served by the primary key and the unique key of nonces. */
export async function isFreeNonce(
  database: Database,
  { tenantId, walletId }: { tenantId: string; walletId: string },
  nonce: number,
): Promise<boolean> {
  const rows = await database.query(sql`
    SELECT FROM chain_wallets w
    WHERE w.tenant_id = ${tenantId} AND w.wallet_id = ${walletId} AND ${freeNonce} <= ${nonce} AND NOT EXISTS (
      SELECT FROM chain_payments p
      WHERE p.tenant_id = w.tenant_id AND p.wallet_id = w.wallet_id AND p.nonce = ${nonce})
  `);
  return rows.length > 0;
}

/** Requests the cancellation of an open transaction, if one is given, with the entry that says so. */
export async function recordGivenUp(
  database: Database,
  tenantId: string,
  openId: string | undefined,
  entry: AuditDraft,
): Promise<void> {
  await database.transaction(async (tx) => {
    if (openId !== undefined) requestCancel(tx, { tenantId, id: openId }, operatorActorId);
    await appendAudit(tx, [entry]);
  });
}
