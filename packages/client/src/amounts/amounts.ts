import { invalidArgument } from "../errors/bursar-error.js";

/** Amounts are decimal strings. These functions calculate with them exactly, in whole base units: cents, wei. */

const pattern = /^(-?)(0|[1-9][0-9]{0,59})(?:\.([0-9]{1,18}))?$/;

/** The base units of an amount: `toUnits("125.50", 2)` is `12550n`. An amount with more decimals is refused, never rounded. */
export function toUnits(amount: string, decimals: number): bigint {
  const { sign, whole, fraction } = read(amount);
  checkDecimals(decimals);
  const digits = fraction.replace(/0+$/, "");
  if (digits.length > decimals) throw invalidArgument(`${amount} has more than ${decimals} decimals.`);
  const units = BigInt(whole + digits.padEnd(decimals, "0"));
  return sign === "-" ? -units : units;
}

/** The amount of base units, without trailing zeros: `fromUnits(12550n, 2)` is `"125.5"`. */
export function fromUnits(units: bigint, decimals: number): string {
  checkDecimals(decimals);
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, "0");
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}

/** Compares two amounts by their value, for `sort`: negative if the first is smaller, 0 if they are equal. */
export function compare(one: string, other: string): number {
  const difference = toUnits(one, decimalsMax) - toUnits(other, decimalsMax);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

const decimalsMax = 18;

function checkDecimals(decimals: number): void {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > decimalsMax)
    throw invalidArgument(`decimals must be an integer from 0 to ${decimalsMax}.`);
}

function read(amount: string): { sign: string; whole: string; fraction: string } {
  const match = typeof amount === "string" ? pattern.exec(amount) : null;
  if (match === null)
    throw invalidArgument("An amount must be a decimal number as a string, such as 125.50.");
  const [, sign = "", whole = "0", fraction = ""] = match;
  return { sign, whole, fraction };
}
