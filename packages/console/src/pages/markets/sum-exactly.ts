/** The running sums of decimal numbers, without the errors of binary fractions. */
export function sumExactly(values: readonly string[]): string[] {
  const fractionOf = (value: string) => value.split(".")[1] ?? "";
  const digits = Math.max(0, ...values.map((value) => fractionOf(value).length));
  let units = 0n;
  return values.map((value) => {
    units += BigInt(value.replace(".", "") + "0".repeat(digits - fractionOf(value).length));
    const text = units.toString().padStart(digits + 1, "0");
    const fraction = digits === 0 ? "" : text.slice(-digits).replace(/0+$/, "");
    const whole = text.slice(0, text.length - digits);
    return fraction === "" ? whole : `${whole}.${fraction}`;
  });
}
