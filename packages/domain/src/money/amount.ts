/**
 * Amounts of money. On the wire they are decimal strings; internally they are whole base units (cents, wei) in a bigint. Floating point is
 * never used.
 */
export type AmountFault = "malformed" | "too_precise" | "not_positive";

/** 60 digits, a point and 18 decimals. Longer strings are refused without parsing. */
const textLengthMax = 79;
const pattern = /^(0|[1-9][0-9]{0,59})(?:\.([0-9]{1,18}))?$/;

/** Parses an amount of an asset with this many decimals. An amount with more decimals is refused, never rounded. */
export function parseAmount(text: string, decimals: number): bigint | AmountFault {
  if (text.length > textLengthMax) return "malformed";
  const match = pattern.exec(text);
  if (match === null) return "malformed";
  const [, whole = "0", written = ""] = match;
  const fraction = written.replace(/0+$/, "");
  if (fraction.length > decimals) return "too_precise";
  const units = BigInt(whole + fraction.padEnd(decimals, "0"));
  return units > 0n ? units : "not_positive";
}

/** Formats base units in the canonical form, without leading or trailing zeros. */
export function formatAmount(units: bigint, decimals: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return fraction === "" ? sign + whole : `${sign}${whole}.${fraction}`;
}
