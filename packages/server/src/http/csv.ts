import type { FastifyReply, FastifyRequest } from "fastify";

/** Whether the caller asks for CSV and does not prefer JSON: the first of the two that it names. */
export function wantsCsv({ headers: { accept = "" } }: Pick<FastifyRequest, "headers">): boolean {
  const names = accept.split(",").map((range) => range.split(";")[0]?.trim().toLowerCase());
  const wanted = names.find((name) => name === "text/csv" || name === "application/json");
  return wanted === "text/csv";
}

type Cell = string | number | null;

/** A page as CSV, with its cursor in a header. */
export function sendCsv<Name extends string>(
  reply: FastifyReply,
  columns: readonly Name[],
  { data, next_cursor }: { data: readonly Readonly<Record<Name, Cell>>[]; next_cursor: string | null },
): FastifyReply {
  if (next_cursor !== null) reply.header("next-cursor", next_cursor);
  const lines = data.map((row) => columns.map((name) => row[name]));
  return reply
    .header("vary", "accept")
    .header("content-type", "text/csv; charset=utf-8; header=present")
    .send(toCsv([columns, ...lines]));
}

/** RFC 4180: every line ends with CRLF, and a cell that needs it is quoted. */
export function toCsv(lines: readonly (readonly Cell[])[]): string {
  return lines.map((cells) => `${cells.map(showCell).join(",")}\r\n`).join("");
}

/**
 * A spreadsheet takes a cell that begins like a formula for one, and runs it: such a string gets an apostrophe before it. With the settings
 * of many countries it also begins a cell after a semicolon, within quotes too. A number stays itself, also a negative one.
 */
function showCell(value: Cell): string {
  const text = value === null ? "" : String(value);
  const isNumber = /^-?\d+(\.\d+)?$/.test(text);
  const safe = isNumber ? text : text.replaceAll(/(^|[;\t\r\n])(?=\s*[=+\-@＝＋－＠])/g, "$1'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
