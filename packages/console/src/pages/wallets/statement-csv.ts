import type { WalletEntry } from "@bursar/client";
import { type CsvColumn, toCsv } from "../../ui/tables/csv";
import type { AmountText } from "../../ui/values/asset-decimals";

/** Each row names its wallet: statements of several are put into one sheet. */
export function statementCsv(walletId: string, rows: readonly WalletEntry[], amountText: AmountText): string {
  const columns: readonly CsvColumn<WalletEntry>[] = [
    ["wallet_id", () => walletId],
    ["occurred_at", (row) => row.occurred_at],
    ["asset", (row) => row.asset],
    ["amount", ({ amount, asset }) => amountText(amount, asset)],
    ["balance", ({ balance, asset }) => amountText(balance, asset)],
    ["cause", (row) => row.cause],
    ["cause_id", (row) => row.cause_id],
    ["reference", (row) => row.reference],
    ["sequence", (row) => String(row.sequence)],
  ];
  return toCsv(columns, rows);
}
