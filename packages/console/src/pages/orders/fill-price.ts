import { fromUnits, type Order, toUnits } from "@bursar/client";

type Filled = Pick<Order, "filled" | "quote_filled">;

const decimalsMax = 18;
/** An average can have more decimals than a price. More than these say nothing. */
const shownDecimals = 8;

/** The average price of what was traded between two states of an order; null if nothing was. It is cut, not rounded up. */
export function fillPrice(after: Filled, before: Filled = { filled: "0", quote_filled: "0" }): string | null {
  const size = toUnits(subtractExactly(after.filled, before.filled), decimalsMax);
  if (size <= 0n) return null;
  const paid = toUnits(subtractExactly(after.quote_filled, before.quote_filled), decimalsMax);
  return fromUnits((paid * 10n ** BigInt(shownDecimals)) / size, shownDecimals);
}

/** The difference of two amounts, without the errors of binary fractions. */
export function subtractExactly(one: string, other: string): string {
  return fromUnits(toUnits(one, decimalsMax) - toUnits(other, decimalsMax), decimalsMax);
}
