import type { Transaction } from "@bursar/client";

const columns: readonly (readonly [string, (row: Transaction) => string | null])[] = [
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

export function toCsv(rows: readonly Transaction[]): string {
  const lines = rows.map((row) => columns.map(([, read]) => cell(read(row) ?? "")).join(","));
  return `${[columns.map(([name]) => name).join(","), ...lines].join("\r\n")}\r\n`;
}

/** A spreadsheet takes a cell that begins like a formula for one, and runs it: such a string gets an apostrophe before it. */
function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function partyOf(party: Transaction["source"]): string | null {
  if (party === null) return null;
  return "address" in party ? party.address : party.wallet_id;
}

export function downloadCsv(rows: readonly Transaction[]): void {
  const url = URL.createObjectURL(new Blob([toCsv(rows)], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `transactions-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}
