import { isoTime } from "@bursar/domain";

/**
 * The text of a parameter as PostgreSQL reads it. The driver can do this too, but it quotes and escapes every element of an array
 * and takes a date apart by its fields; a batch of 64 transactions has 832 elements, and this takes a third of the time.
 */
export function parameterText(value: unknown): unknown {
  if (Array.isArray(value)) return arrayText(value);
  if (value instanceof Date) return isoTime(value);
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
      if (item instanceof Date) return `"${isoTime(item)}"`;
      if (item instanceof Uint8Array) return `"\\\\x${Buffer.from(item).toString("hex")}"`;
      throw new TypeError("an array for the database holds something that has no text");
  }
}

/** Letters, digits and hyphens, which is what identifiers and amounts are made of; a word that is NULL would mean nothing. */
function isPlain(text: string): boolean {
  return /^[0-9A-Za-z-]+$/.test(text) && (text.length !== 4 || text.toUpperCase() !== "NULL");
}
