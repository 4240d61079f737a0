import type { Transaction } from "@bursar/client";
import { type CsvColumn, toCsv } from "../../ui/tables/csv";

const columns: readonly CsvColumn<Transaction>[] = [
  ["id", (row) => row.id],
  ["created_at", (row) => row.created_at],
  ["kind", (row) => row.kind],
  ["state", (row) => row.state],
  ["asset", (row) => row.asset],
  ["amount", (row) => row.amount],
  ["reference", (row) => row.reference],
  ["source", ({ source }) => partyOf(source)],
  ["destination", ({ destination }) => partyOf(destination)],
  ["created_by", (row) => row.created_by],
];

export function transactionsCsv(rows: readonly Transaction[]): string {
  return toCsv(columns, rows);
}

function partyOf(party: Transaction["source"]): string | null {
  if (party === null) return null;
  return "address" in party ? party.address : party.wallet_id;
}
