/** Exact decimal numbers, as far as sums and comparisons of amounts need them. */
export interface Decimal {
  readonly units: bigint;
  readonly decimals: number;
}

export function parseDecimal(text: string): Decimal | undefined {
  const match = /^([+-]?)(\d{1,100})(?:\.(\d{1,100}))?$/.exec(text);
  if (match === null) return undefined;
  const [, sign = "", whole = "", fraction = ""] = match;
  return { units: BigInt(`${sign}${whole}${fraction}`), decimals: fraction.length };
}

/** The same, or with an exponent, which is another way to write a decimal number. */
export function parseScientific(text: string): Decimal | undefined {
  const [, digits = text, exponent = "0"] = /^(.*)[eE]([+-]?\d{1,3})$/.exec(text) ?? [];
  const value = parseDecimal(digits);
  if (value === undefined) return undefined;
  const decimals = value.decimals - Number(exponent);
  return decimals >= 0
    ? { units: value.units, decimals }
    : { units: value.units * 10n ** BigInt(-decimals), decimals: 0 };
}

export function addDecimals(one: Decimal, other: Decimal): Decimal {
  const decimals = Math.max(one.decimals, other.decimals);
  return { units: unitsAt(one, decimals) + unitsAt(other, decimals), decimals };
}

/** Negative if the first is smaller, positive if it is greater, otherwise zero. */
export function compareDecimals(one: Decimal, other: Decimal): number {
  const decimals = Math.max(one.decimals, other.decimals);
  const difference = unitsAt(one, decimals) - unitsAt(other, decimals);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

export function showDecimal({ units, decimals }: Decimal): string {
  const digits = units.toString().padStart(decimals + 1, "0");
  return decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

function unitsAt({ units, decimals }: Decimal, wanted: number): bigint {
  return units * 10n ** BigInt(wanted - decimals);
}
