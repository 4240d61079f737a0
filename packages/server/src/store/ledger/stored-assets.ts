import type { Asset } from "@bursar/domain";
import type { Database, Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";

/** An asset whose amounts are stored with other decimals than it would have now. */
export interface AssetConflict {
  code: string;
  stored: number;
}

/**
 * Stores the decimals of these assets, and finds one that is stored with others. While nothing is stored in an asset its decimals may
 * change, so that a mistake in the configuration can be corrected. It reads every account, once at the start.
 */
export async function rememberAssets(
  database: Database,
  assets: readonly Pick<Asset, "code" | "decimals">[],
): Promise<AssetConflict | undefined> {
  const configured = sql`unnest(${assets.map(({ code }) => code)}::text[],
    ${assets.map(({ decimals }) => decimals)}::integer[]) AS configured (code, decimals)`;
  return await database.transaction(async (tx) => {
    await tx.query(sql`SET LOCAL enable_seqscan = on`);
    await tx.query(sql`
      INSERT INTO asset_decimals (asset, decimals) SELECT code, decimals FROM ${configured} ON CONFLICT DO NOTHING
    `);
    const changed = await tx.query<AssetConflict & { configured: number }>(sql`
      SELECT asset AS code, stored.decimals AS stored, configured.decimals AS configured
      FROM asset_decimals stored JOIN ${configured} ON code = asset
      WHERE stored.decimals <> configured.decimals ORDER BY asset FOR UPDATE OF stored
    `);
    for (const { code, stored, configured: decimals } of changed) {
      if (await isStored(tx, code)) return { code, stored };
      await tx.query(sql`UPDATE asset_decimals SET decimals = ${decimals} WHERE asset = ${code}`);
    }
    return undefined;
  });
}

/** Every asset that was ever funded or decided on has an account; what was accepted and not decided on yet is open. */
async function isStored(source: Queryable, code: string): Promise<boolean> {
  const found = await source.query(sql`
    SELECT FROM ledger_accounts WHERE asset = ${code}
    UNION ALL
    SELECT FROM open_transactions JOIN transactions USING (tenant_id, id) WHERE asset = ${code}
    LIMIT 1
  `);
  return found.length > 0;
}

/** Finds an asset that has accounts and is not among these. It reads every account, once at the start. */
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
