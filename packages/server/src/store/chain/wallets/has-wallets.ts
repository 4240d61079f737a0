import type { Queryable } from "../../core/database.js";
import { sql } from "../../core/sql.js";

/**
 * Whether there are wallets on these networks, with an address or still without one. Served by chain_wallets_to_compare, and by
 * wallets_creating, which holds only the few that are being created.
 */
export async function hasChainWallets(source: Queryable, networks: readonly string[]): Promise<boolean> {
  const names = [...networks];
  const [row] = await source.query<{ found: boolean }>(sql`
    SELECT coalesce(
      (SELECT true FROM chain_wallets c WHERE c.network = ANY (${names}::text[]) LIMIT 1),
      (SELECT true FROM wallets w WHERE w.state = 'creating' AND w.network = ANY (${names}::text[]) LIMIT 1),
      false) AS found
  `);
  return row?.found === true;
}
