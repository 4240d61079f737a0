/**
 * A parameter in PostgreSQL's text format. The driver can do this too, but it quotes and escapes every element of an array and
 * formats a date field by field; a batch of 64 transactions has 832 elements, and this takes a third of the time.
 */
export function parameterText(value: unknown): unknown {
  if (Array.isArray(value)) return arrayText(value);
  if (value instanceof Date) return value.toISOString();
  return value;
}

function arrayText(items: readonly unknown[]): string {
  let text = "{";
  for (let index = 0; index < items.length; index++) {
    if (index > 0) text += ",";
    text += elementText(items[index]);
  }
  return `${text}}`;
}

function elementText(item: unknown): string {
  if (item === null || item === undefined) return "NULL";
  switch (typeof item) {
    case "string":
      return isPlain(item) ? item : `"${item.replace(/[\\"]/g, "\\$&")}"`;
    case "number":
    case "bigint":
    case "boolean":
      return String(item);
    default:
      if (item instanceof Date) return `"${item.toISOString()}"`;
      if (item instanceof Uint8Array) return `"\\\\x${Buffer.from(item).toString("hex")}"`;
      throw new TypeError("an array parameter holds a value that has no text format");
  }
}

/** Letters, digits and hyphens, as in identifiers and amounts. Unquoted, the word NULL would be read as no value. */
function isPlain(text: string): boolean {
  return /^[0-9A-Za-z-]+$/.test(text) && (text.length !== 4 || text.toUpperCase() !== "NULL");
}
