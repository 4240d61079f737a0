import type { FollowedBlock, WalletKey } from "../../app/chain/chain-store.js";
import type { ComparedWallet, SettledBooks } from "../../app/chain/wallet-books.js";
import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";
import { readBooks } from "./chain-books.js";

const leastId = "00000000-0000-0000-0000-000000000000";

/** What the books of some wallets say, on one snapshot with the settled block. Served by the primary keys. */
export function readSettledBooks(
  database: Database,
  network: string,
  after: WalletKey | undefined,
  limit: number,
): Promise<SettledBooks> {
  return database.transaction(async (tx) => {
    await tx.query(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`);
    const [settled] = await tx.query<Omit<FollowedBlock, "number"> & { number: string }>(sql`
      SELECT b.number, b.hash, b.parent_hash AS "parentHash" FROM networks n
      JOIN chain_blocks b ON b.network = n.network AND b.number = n.settled_number WHERE n.network = ${network}
    `);
    const wallets = await tx.query<ComparedWallet>(sql`
      SELECT w.tenant_id AS "tenantId", w.wallet_id AS "walletId", w.address FROM chain_wallets w
      WHERE w.network = ${network}
        AND (w.tenant_id, w.wallet_id) > (${after?.tenantId ?? leastId}::uuid, ${after?.walletId ?? leastId}::uuid)
      ORDER BY w.tenant_id, w.wallet_id LIMIT ${limit}
    `);
    return {
      settled: settled && { ...settled, number: Number(settled.number) },
      wallets,
      books: await readBooks(tx, wallets),
    };
  });
}
