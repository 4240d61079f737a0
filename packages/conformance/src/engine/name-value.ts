/** How sentences of a report name what a target has sent, of whatever type. */

const shownMax = 200;

/** With its article: a string, an object, a list, null; nothing for what is not there. */
function kindOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A string as it is, everything else as JSON; none for what is not there. */
export function showValue(value: unknown): string {
  if (value === undefined) return "none";
  const text = typeof value === "string" && value !== "" ? value : JSON.stringify(value);
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text;
}

/** Both, if the type is what is wrong. */
export function describeValue(value: unknown): string {
  return value === undefined || value === null ? showValue(value) : `${kindOf(value)}: ${showValue(value)}`;
}
