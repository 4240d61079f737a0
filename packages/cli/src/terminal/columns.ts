/** A column of a list: the path of a field, such as `source.wallet_id`, or a title with a function. */
export type Column = string | { title: string; of: (item: never) => unknown };

export function titleOf(column: Column): string {
  return typeof column === "string" ? column : column.title;
}

export function cellOf(item: unknown, column: Column): string {
  const value = typeof column === "string" ? at(item, column) : column.of(item as never);
  return textOf(value);
}

function at(item: unknown, path: string): unknown {
  let value = item;
  for (const name of path.split("."))
    value =
      typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return value;
}

/** A value as a reader sees it; `-` if there is none. */
function textOf(value: unknown): string {
  if (value === undefined || value === null || value === "") return "-";
  if (Array.isArray(value)) return value.length === 0 ? "-" : value.map(textOf).join(" ");
  if (typeof value === "object") {
    const members = Object.entries(value).filter(
      ([name, one]) => one !== null && one !== undefined && name !== "object",
    );
    return members.map(([name, one]) => `${name} ${textOf(one)}`).join("  ") || "-";
  }
  if (typeof value === "boolean") return value ? "yes" : "no";
  return String(value);
}

const amounts =
  /(^|\.)(amount|size|price|filled|remaining|available|held|sequence|version|number|attempt_count)$/;

/** Whether a column has numbers, which stand at the right. */
export function isNumeric(column: Column): boolean {
  return amounts.test(titleOf(column).toLowerCase());
}

const texts = /(^|\.)(name|reference|label|url|scopes|events|action|object)$/;

/** Whether a column may be cut to fit: ids, amounts and times are of no use if they are not whole. */
export function isCuttable(column: Column): boolean {
  return texts.test(titleOf(column));
}

/** The fields of a resource, one line each, as pairs of name and value; the items of a list have a line each. */
export function fieldsOf(value: object): [name: string, value: string][] {
  return Object.entries(value).flatMap(([name, one]): [string, string][] => {
    if (name === "object") return [];
    if (Array.isArray(one) && one.some((item) => typeof item === "object"))
      return one.map((item) => [name, textOf(item)]);
    return [[name, textOf(one)]];
  });
}
