import { type Column, cellOf, fieldsOf, isCuttable, isNumeric, titleOf } from "./columns.js";
import type { Io } from "./io.js";
import type { Progress } from "./progress.js";
import { cut, safe, safeJson, widthOf } from "./safe-text.js";
import { paintState, type Style, styleOf } from "./style.js";

/** `table` on a terminal, `plain` (tabs) in a pipe, or what was asked for. */
type Format = "table" | "plain" | "json" | "jsonl";

/** Writes data. Every string of the service passes through here and is made safe. */
export interface Output {
  format: Format;
  style: Style;
  /** A list, with a line for each item. */
  list: (items: AsyncIterable<unknown> | Iterable<unknown>, columns: readonly Column[]) => Promise<void>;
  /** One resource, with a line for each field. */
  one: (value: object) => void;
  /** One item of a list that does not end; `line` is what people see. */
  item: (value: unknown, line: () => string) => void;
  /** A line that is data itself, such as a token. */
  text: (line: string) => void;
}

const gap = "  ";

export function createOutput(io: Io, asked: "json" | "jsonl" | undefined, progress: Progress): Output {
  const format: Format = asked ?? (io.isTerminal.out ? "table" : "plain");
  const style = styleOf(io, "out");
  const write = (text: string) => {
    progress.clear();
    io.out(text);
  };
  return {
    format,
    style,
    list: async (items, columns) => {
      if (format === "jsonl") for await (const item of items) write(`${safeJson(item)}\n`);
      else if (format === "plain")
        for await (const item of items)
          write(`${columns.map((column) => safe(cellOf(item, column))).join("\t")}\n`);
      else {
        const all = [];
        for await (const item of items) all.push(item);
        write(format === "json" ? `${safeJson(all, 2)}\n` : table(all, columns, style, io.width()));
      }
    },
    one: (value) => {
      if (format === "json") write(`${safeJson(value, 2)}\n`);
      else if (format === "jsonl") write(`${safeJson(value)}\n`);
      else write(details(value, format, style));
    },
    item: (value, line) => write(`${format === "json" || format === "jsonl" ? safeJson(value) : line()}\n`),
    text: (line) => write(`${safe(line)}\n`),
  };
}

function details(value: object, format: Format, style: Style): string {
  const fields = fieldsOf(value);
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  return fields
    .map(([name, text]) =>
      format === "plain"
        ? `${safe(name)}\t${safe(text)}\n`
        : `${style.dim(safe(name).padEnd(width))}${gap}${name === "state" ? paintState(safe(text), style) : safe(text)}\n`,
    )
    .join("");
}

const widthMin = 8;
/** If the lines are too long in any case, cutting hides without helping. */
const widthIfLong = 32;

/** A table that fits the terminal, if that is wide enough for the columns that cannot be cut. */
function table(
  items: readonly unknown[],
  columns: readonly Column[],
  style: Style,
  widthMax: number,
): string {
  if (items.length === 0) return `${style.dim("none")}\n`;
  const titles = columns.map((column) => titleOf(column).replaceAll(/[._]/g, " ").toUpperCase());
  const rows = items.map((item) => columns.map((column) => safe(cellOf(item, column))));
  const widths = fit(
    columns.map((_, at) => Math.max(...[titles, ...rows].map((row) => widthOf(row[at] ?? "")))),
    columns.map(isCuttable),
    widthMax - gap.length * (columns.length - 1),
  );
  const lineOf = (cells: readonly string[], paint: (text: string, at: number) => string) =>
    cells
      .map((cell, at) => {
        const shown = cut(cell, widths[at] ?? 0);
        const space = " ".repeat(Math.max(0, (widths[at] ?? 0) - widthOf(shown)));
        const isRight = isNumeric(columns[at] ?? "");
        const isLast = at === cells.length - 1;
        return isRight ? space + paint(shown, at) : paint(shown, at) + (isLast ? "" : space);
      })
      .join(gap);
  const isState = columns.map((column) => /(^|\.)state$/.test(titleOf(column)));
  const lines = rows.map((row) =>
    lineOf(row, (text, at) => (isState[at] === true ? paintState(text, style) : text)),
  );
  return `${[lineOf(titles, (text) => style.dim(text)), ...lines].join("\n")}\n`;
}

/** Takes from the widest of the columns that can be cut until the sum fits. */
function fit(widths: number[], canCut: readonly boolean[], sumMax: number): number[] {
  const least = widths.map((width, at) => (canCut[at] === true ? Math.min(width, widthMin) : width));
  if (least.reduce((total, width) => total + width, 0) > sumMax)
    return widths.map((width, at) => (canCut[at] === true ? Math.min(width, widthIfLong) : width));
  const fitted = [...widths];
  const sum = () => fitted.reduce((total, width) => total + width, 0);
  while (sum() > sumMax) {
    const widest = Math.max(0, ...fitted.filter((_, at) => canCut[at]));
    if (widest <= widthMin) break;
    const at = fitted.findIndex((width, index) => canCut[index] === true && width === widest);
    fitted[at] = widest - 1;
  }
  return fitted;
}
