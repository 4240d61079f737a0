import type { WalletKey } from "../../../app/chain/chain-store.js";
import type { RowMac } from "../../access/row-integrity.js";
import { type Database, requireKeys } from "../../core/database.js";
import { sql } from "../../core/sql.js";
import { isAddressAuthentic, macOfAddress, type SealedAddress } from "./wallet-integrity.js";

const batchMax = 500;
const leastId = "00000000-0000-0000-0000-000000000000";

/** Writes the MACs of the addresses of wallets with the current key, unless one was tampered with; returns how many. Served by the primary key. */
export async function resealAddresses(database: Database): Promise<number> {
  let written = 0;
  let after: WalletKey | undefined = { tenantId: leastId, walletId: leastId };
  while (after !== undefined) {
    const { tenantId, walletId }: WalletKey = after;
    const rows: WalletKey[] = await database.transaction(async (tx) => {
      const keys = requireKeys(tx);
      const listed = await tx.query<SealedAddress & RowMac>(sql`
        SELECT w.tenant_id AS "tenantId", w.wallet_id AS "walletId", w.network, w.address, w.shown, w.key_id AS "keyId", w.mac
        FROM chain_wallets w WHERE (w.tenant_id, w.wallet_id) > (${tenantId}::uuid, ${walletId}::uuid)
        ORDER BY w.tenant_id, w.wallet_id LIMIT ${batchMax} FOR UPDATE
      `);
      for (const { keyId, mac, ...wallet } of listed) {
        if (keyId === keys.currentId || !isAddressAuthentic(keys, wallet, { keyId, mac })) continue;
        const again = macOfAddress(keys, wallet);
        tx.send(sql`
          UPDATE chain_wallets SET key_id = ${again.keyId}, mac = ${again.mac}
          WHERE tenant_id = ${wallet.tenantId} AND wallet_id = ${wallet.walletId}
        `);
        written += 1;
      }
      return listed;
    });
    after = rows.at(-1);
  }
  return written;
}
