import type { Asset } from "@bursar/domain";
import { ConfigError } from "../config/setting.js";
import type { Database } from "../store/core/database.js";
import { findUnknownAsset } from "../store/ledger/find-unknown-asset.js";
import { rememberAssets } from "../store/ledger/remember-assets.js";

/**
 * What is stored of an asset counts its smallest unit, so that nothing stored could be shown without its decimals, and all of it would
 * be another amount with others; whoever reads must not be the one to find out.
 */
export async function assertAssetsKept(database: Database, assets: readonly Asset[]): Promise<void> {
  const unknown = await findUnknownAsset(
    database,
    assets.map(({ code }) => code),
  );
  if (unknown !== undefined) {
    throw new ConfigError(
      `The database holds the asset ${unknown}, which assets does not have: add it to the configuration file, with the decimals that it had.`,
    );
  }
  const conflict = await rememberAssets(database, assets);
  if (conflict !== undefined) {
    throw new ConfigError(
      `The database holds amounts of ${conflict.code} with ${conflict.stored} decimals, and assets gives it others, which would change all of them: give it ${conflict.stored} again, or another code to the new one.`,
    );
  }
}
