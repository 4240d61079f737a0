const decimal = /^(\d+)(?:\.(\d+))?$/;

/** The product of two decimal numbers, without the errors of binary fractions. Undefined if one of them is none. */
export function multiplyExactly(one: string, other: string): string | undefined {
  const [first, second] = [decimal.exec(one), decimal.exec(other)];
  if (first === null || second === null) return undefined;
  const [, whole = "", fraction = ""] = first;
  const [, otherWhole = "", otherFraction = ""] = second;
  const digits = fraction.length + otherFraction.length;
  const units = BigInt(whole + fraction) * BigInt(otherWhole + otherFraction);
  const text = units.toString().padStart(digits + 1, "0");
  const end = digits === 0 ? "" : text.slice(-digits).replace(/0+$/, "");
  const start = text.slice(0, text.length - digits);
  return end === "" ? start : `${start}.${end}`;
}
