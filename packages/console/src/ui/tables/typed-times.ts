/**
 * A time of UTC as a person writes it, such as `2026-11-17 19:26`; what cannot be read is left as it is, and the service says so. A day
 * alone is its beginning, or its end if it ends a range: what happened on that day is in the range.
 */
export function readTime(text: string, isEnd: boolean): string {
  const parts = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,3})?)?)?Z?$/.exec(text.trim());
  if (parts === null) return text;
  const [, day = "", minute, second = ":00"] = parts;
  if (minute === undefined && isEnd) return endOf(day) ?? text;
  return `${day}T${minute ?? "00:00"}${second}Z`;
}

/** What is wrong with times that were typed, by the names of their fields. */
export function faultsOfTimes<Name extends string>(
  filters: Readonly<Partial<Record<Name, string>>>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const wrong = names.filter((name) => {
    const text: string | undefined = filters[name];
    return text !== undefined && !isTime(text);
  });
  return Object.fromEntries(
    wrong.map((name) => [name, "is not a time, such as 2026-11-17 or 2026-11-17 19:26"]),
  ) as Partial<Record<Name, string>>;
}

/** `Date` reads the 31st of a month that has 30 days as the 1st of the next one. */
function isTime(text: string): boolean {
  const day = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/.exec(text)?.[1];
  const atMs = Date.parse(text);
  return day !== undefined && !Number.isNaN(atMs) && new Date(atMs).toISOString().startsWith(day);
}

const dayMs = 86_400_000;

/** The moment after a day; undefined if there is no such day. */
function endOf(day: string): string | undefined {
  const beginMs = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(beginMs) ? undefined : `${new Date(beginMs + dayMs).toISOString().slice(0, 19)}Z`;
}
