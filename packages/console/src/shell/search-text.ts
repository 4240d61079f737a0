/**
 * Reads what follows `?` in the address. Everything in it is text, as a person typed it: the router by itself reads a reference such as
 * `2031`, `true` or `1e3` as something else, and no reference is a number.
 */
export function parseSearch(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const stated = Object.entries(search).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value]] : [],
  );
  return stated.length === 0 ? "" : `?${new URLSearchParams(stated)}`;
}
