/**
 * Writes a JSON value in the one form of RFC 8785, so that equal requests have equal hashes whatever the order of their keys
 * or their white space. Takes what a JSON parser gives; anything else is a mistake of ours.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new Error("JSON has no such number");
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object") {
    // Texts compare by UTF-16 code units, which is the order that the RFC asks for.
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
    return `{${members.join(",")}}`;
  }
  throw new Error(`JSON has no ${typeof value}`);
}
