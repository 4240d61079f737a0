import type { Database } from "../core/database.js";
import { sql } from "../core/sql.js";

/**
 * An asset that the books know and these codes do not name. It reads every account, which a start can afford once. Every asset
 * that was ever funded or decided on has an account, if only one of zero.
 */
export async function findUnknownAsset(
  database: Database,
  codes: readonly string[],
): Promise<string | undefined> {
  return await database.transaction(async (tx) => {
    await tx.query(sql`SET LOCAL enable_seqscan = on`);
    const [row] = await tx.query<{ asset: string }>(sql`
      SELECT asset FROM ledger_accounts WHERE asset <> ALL(${[...codes]}::text[]) LIMIT 1
    `);
    return row?.asset;
  });
}
