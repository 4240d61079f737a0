import type { WalletKey } from "../../app/chain/chain-store.js";
import type { Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";
import { hasWallet } from "./unowned-rows.js";

/** Served by chain_wallets_halted. */
export async function listSettlementFailed(tx: Queryable, network: string): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    SELECT w.wallet_id AS id FROM chain_wallets w
    WHERE w.network = ${network} AND w.halted_reason IS NOT NULL AND w.halted_code = 'SETTLEMENT_FAILED'
  `);
  return rows.map(({ id }) => id);
}

/**
 * The last block up to this one with which the rows of payments and deposits stay below the bound; `upTo` if all of them do. Served by
 * chain_payments_included, chain_deposits_seen and the primary key of wallets.
 */
export async function limitBlocks(
  tx: Queryable,
  network: string,
  upTo: number,
  rowsMax: number,
  without: readonly string[],
): Promise<number> {
  const [row] = await tx.query<{ next: string | null }>(sql`
    SELECT least(
      (SELECT p.block_number FROM chain_payments p
        WHERE p.network = ${network} AND p.stage = 'included' AND p.wallet_id <> ALL (${[...without]}::uuid[])
          AND ${hasWallet(sql`p`)}
        ORDER BY p.network, p.block_number OFFSET ${rowsMax} LIMIT 1),
      (SELECT c.block_number FROM chain_deposits c
        WHERE c.network = ${network} AND c.state = 'seen' AND c.block_number IS NOT NULL AND c.wallet_id <> ALL (${[...without]}::uuid[])
          AND ${hasWallet(sql`c`)}
        ORDER BY c.network, c.block_number OFFSET ${rowsMax} LIMIT 1)) AS next
  `);
  return row === undefined || row.next === null ? upTo : Math.min(upTo, Number(row.next) - 1);
}

/**
 * Which of these wallets pay or receive something in a block up to this one that is not settled. Payments without the attempt that is in
 * the block do not count: they are never listed to be settled, and the comparison with the chain halts their wallets. A deposit whose row
 * names another tenant or another wallet than its transaction counts for both: it may be credited once the row is repaired. Served by
 * chain_payments_included and chain_deposits_seen, which have few rows up to a settled block, by chain_deposits_incoming and by primary keys.
 */
export async function listUnsettled(
  tx: Queryable,
  network: string,
  upTo: number,
  wallets: readonly WalletKey[],
): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ id: string }>(sql`
    WITH payments AS (
      SELECT p.tenant_id, p.wallet_id, p.transaction_id FROM chain_payments p
      CROSS JOIN LATERAL (
        SELECT 1 FROM chain_attempts a WHERE a.network = p.network AND a.hash = p.included_hash LIMIT 1) AS a
      WHERE p.network = ${network} AND p.stage = 'included' AND p.block_number <= ${upTo}),
    unowned AS (
      SELECT c.tenant_id, c.wallet_id, c.transaction_id FROM chain_deposits c
      WHERE c.network = ${network} AND c.state = 'seen' AND c.block_number IS NOT NULL AND c.block_number <= ${upTo}
        AND NOT ${hasWallet(sql`c`)})
    SELECT wallet_id AS id FROM payments
    UNION SELECT t.destination_account_id FROM payments p CROSS JOIN LATERAL (
      SELECT t.destination_account_id FROM transactions t WHERE t.tenant_id = p.tenant_id AND t.id = p.transaction_id LIMIT 1) AS t
    UNION SELECT wallet_id FROM unowned
    UNION SELECT t.destination_account_id FROM unowned u CROSS JOIN LATERAL (
      SELECT t.destination_account_id FROM transactions t WHERE t.tenant_id = u.tenant_id AND t.id = u.transaction_id LIMIT 1) AS t
    UNION SELECT given.wallet_id FROM unnest(
      ${wallets.map(({ tenantId }) => tenantId)}::uuid[], ${wallets.map(({ walletId }) => walletId)}::uuid[]
    ) AS given (tenant_id, wallet_id)
    CROSS JOIN LATERAL (
      SELECT 1 FROM chain_deposits c
      WHERE c.tenant_id = given.tenant_id AND c.wallet_id = given.wallet_id AND c.state = 'seen' AND c.block_number <= ${upTo}
      LIMIT 1) AS c
  `);
  return new Set(rows.map(({ id }) => id));
}
