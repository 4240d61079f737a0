import type { Asset } from "@bursar/domain";
import { ConfigError } from "../config/setting.js";
import type { Database } from "../store/core/database.js";
import { findUnknownAsset, rememberAssets } from "../store/ledger/stored-assets.js";

/** Why a stored asset is not configured and what to do, if that is known; undefined otherwise. */
export type ExplainMissingAsset = (code: string) => string | undefined;

/**
 * Amounts are stored in the smallest unit of their asset. Without its decimals they cannot be shown, and with other decimals they would
 * be other amounts, so the service refuses to start.
 */
export async function assertAssetsKept(
  database: Database,
  assets: readonly Asset[],
  explainMissing: ExplainMissingAsset = () => undefined,
): Promise<void> {
  const unknown = await findUnknownAsset(
    database,
    assets.map(({ code }) => code),
  );
  if (unknown !== undefined) {
    throw new ConfigError(
      explainMissing(unknown) ??
        `The database stores the asset ${unknown}, which is not in \`assets\`. Add it to the configuration file with its former decimals.`,
    );
  }
  const conflict = await rememberAssets(database, assets);
  if (conflict !== undefined) {
    throw new ConfigError(
      `${conflict.code} is stored with ${conflict.stored} decimals but configured with others. Restore \`decimals: ${conflict.stored}\`, or use another code for the new asset.`,
    );
  }
}
