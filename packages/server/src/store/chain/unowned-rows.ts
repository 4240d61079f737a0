import type { WalletKey } from "../../app/chain/chain-store.js";
import type { Queryable } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
import { hasRow } from "./wallets/removed-addresses.js";

/*
 * Rows of payments and deposits whose wallet does not exist. The service never writes them. They are left out of what is settled, because
 * nothing could be halted for them, and counted here instead.
 */

/** Whether the row has a wallet. Served by the primary key. */
export const hasWallet = (row: Statement): Statement =>
  hasRow(sql`chain_wallets w WHERE w.tenant_id = ${row}.tenant_id AND w.wallet_id = ${row}.wallet_id`);

/** How many rows of settled blocks are looked at. Others than these are settled, except for those of wallets that could not be. */
const lookedAtMax = 1000;

/** Served by chain_payments_included, chain_deposits_seen and the primary key. `networks` is a table of the statement around it. */
export const unownedRows: Statement = sql`
  SELECT r.* FROM (
    (SELECT p.tenant_id, p.wallet_id, p.transaction_id, p.included_hash AS hash, p.block_number FROM chain_payments p
      WHERE p.network = networks.network AND p.stage = 'included' AND p.block_number <= networks.settled_number
      ORDER BY p.network, p.block_number LIMIT ${lookedAtMax})
    UNION ALL
    (SELECT c.tenant_id, c.wallet_id, c.transaction_id, c.hash, c.block_number FROM chain_deposits c
      WHERE c.network = networks.network AND c.state = 'seen' AND c.block_number IS NOT NULL
        AND c.block_number <= networks.settled_number
      ORDER BY c.network, c.block_number LIMIT ${lookedAtMax})) AS r
  WHERE NOT ${hasWallet(sql`r`)}`;

export interface UnownedRow extends WalletKey {
  /** Of the transaction on the chain. */
  hash: string;
  blockNumber: string;
}

export function listUnowned(source: Queryable, network: string): Promise<UnownedRow[]> {
  return source.query<UnownedRow>(sql`
    SELECT u.tenant_id AS "tenantId", u.wallet_id AS "walletId", u.hash, u.block_number::text AS "blockNumber"
    FROM networks CROSS JOIN LATERAL (${unownedRows}) AS u WHERE networks.network = ${network}
    ORDER BY u.block_number, u.hash
  `);
}
