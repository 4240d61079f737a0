import type { AssetRegistry } from "@bursar/domain";
import type { TransactionFilter } from "./transaction.js";

/** An asset can also be named in other ways than by its code. */
export function withAssetCode(
  { asset, ...filter }: TransactionFilter,
  assets: AssetRegistry,
): TransactionFilter {
  return asset === undefined ? filter : { ...filter, asset: assets.find(asset)?.code ?? asset };
}
