import { fromUnits, type Transaction, toUnits } from "@bursar/client";

/** As many as any asset has. */
const decimalsMax = 18;

/** The sum of each asset, in the order of their codes. */
export function sumByAsset(
  rows: readonly Pick<Transaction, "asset" | "amount">[],
): { asset: string; amount: string }[] {
  const sums = new Map<string, bigint>();
  for (const { asset, amount } of rows)
    sums.set(asset, (sums.get(asset) ?? 0n) + toUnits(amount, decimalsMax));
  return [...sums]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([asset, units]) => ({ asset, amount: fromUnits(units, decimalsMax) }));
}
