import type { ChainWalletActivation } from "../../../app/chain/activate-wallets.js";
import { type Database, requireKeys } from "../../core/database.js";
import { recordFailure } from "../../core/rows/failures.js";
import { sql } from "../../core/sql.js";
import type { EventLog } from "../../events/events.js";
import { createActivate, listCreating, walletFailures } from "../../wallets/activate-wallets.js";
import { currentEpoch } from "./confirmed-wallets.js";
import { macOfAddress } from "./wallet-integrity.js";

/** Wallets of chains get an address and become active in one SQL transaction: there is no active one without an address. */
export function createChainWalletActivation(database: Database, log: EventLog): ChainWalletActivation {
  const activate = createActivate(database, log);
  return {
    listCreating: (networks, limit, now) => listCreating(database, networks, limit, now),
    // An address that another wallet has is refused by the unique key.
    activate: (wallets, occurredAt) =>
      activate(wallets, occurredAt, async (tx, activated) => {
        const ids = new Set(activated.map(({ id }) => id));
        const added = wallets.filter(({ id }) => ids.has(id));
        const keys = requireKeys(tx);
        const macs = added.map(({ tenantId, id, network, address, shown }) =>
          macOfAddress(keys, { tenantId, walletId: id, network, address, shown }).mac.toString("hex"),
        );
        await tx.query(sql`
          INSERT INTO chain_wallets (tenant_id, wallet_id, network, address, shown, mac, key_id, confirmed_epoch)
          SELECT tenant_id, wallet_id, network, address, shown, decode(mac, 'hex'), ${keys.currentId}, ${currentEpoch} FROM unnest(${added.map(({ tenantId }) => tenantId)}::uuid[], ${added.map(({ id }) => id)}::uuid[],
            ${added.map(({ network }) => network)}::text[], ${added.map(({ address }) => address)}::text[],
            ${added.map(({ shown }) => shown)}::text[], ${macs}::text[]) AS given (tenant_id, wallet_id, network, address, shown, mac)
        `);
      }),
    recordFailure: (wallet, error, now) => recordFailure(database, walletFailures, wallet, error, now),
    // One scan of an index. It is asked for only in the first minute of a process or of the signer.
    countAddressed: async () => {
      const [row] = await database.query<{ count: string }>(sql`SELECT count(*) AS count FROM chain_wallets`);
      return Number(row?.count ?? 0);
    },
    // Served by the primary key.
    listNewest: (tenantIds) =>
      database.query(sql`
        SELECT w.tenant_id AS "tenantId", w.wallet_id AS id, w.network
        FROM unnest(${[...tenantIds]}::uuid[]) AS given (tenant_id) CROSS JOIN LATERAL (
          SELECT * FROM chain_wallets w WHERE w.tenant_id = given.tenant_id
          ORDER BY w.tenant_id DESC, w.wallet_id DESC LIMIT 1) AS w
      `),
  };
}
