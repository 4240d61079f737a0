export type CsvColumn<Row> = readonly [name: string, read: (row: Row) => string | null];

export function toCsv<Row>(columns: readonly CsvColumn<Row>[], rows: readonly Row[]): string {
  const lines = rows.map((row) => columns.map(([, read]) => cell(read(row) ?? "")).join(","));
  return `${[columns.map(([name]) => name).join(","), ...lines].join("\r\n")}\r\n`;
}

/** A decimal number may begin with a sign. */
const number = /^-?\d+(\.\d+)?$/;

/**
 * A spreadsheet takes a cell that begins like a formula for one, and runs it: such a string gets an apostrophe before it. With the settings
 * of many countries it also begins a cell after a semicolon, within quotes too. The service does the same in its own CSV.
 */
function cell(text: string): string {
  const safe = number.test(text) ? text : text.replaceAll(/(^|[;\t\r\n])(?=\s*[=+\-@＝＋－＠])/g, "$1'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Gives the browser a file with today's date in its name. */
export function downloadCsv(name: string, csv: string): void {
  const url = URL.createObjectURL(new Blob([csv], { type: "text/csv" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `${name}-${new Date().toISOString().slice(0, 10)}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}
