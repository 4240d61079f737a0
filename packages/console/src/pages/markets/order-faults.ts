import { type Market, toUnits } from "@bursar/client";
import { isAmount } from "../transactions/payment-fields";

const decimalsMax = 18;

interface Typed {
  price: string;
  size: string;
  quoteSize: string;
}

/** What is wrong with what was typed, by field; nothing is said of an empty one. */
export function faultsOfOrder(
  { price, size, quoteSize }: Typed,
  { tick_size, lot_size }: Pick<Market, "tick_size" | "lot_size">,
): Partial<Record<keyof Typed, string>> {
  const faults = {
    price: faultOfNumber(price, tick_size),
    size: faultOfNumber(size, lot_size),
    quoteSize: faultOfNumber(quoteSize),
  };
  return Object.fromEntries(Object.entries(faults).filter(([, fault]) => fault !== undefined));
}

function faultOfNumber(text: string, step?: string): string | undefined {
  if (text === "") return undefined;
  if (!isAmount(text)) return "must be a decimal number with a point, such as 125.50";
  try {
    const units = toUnits(text, decimalsMax);
    if (units === 0n) return "must be more than zero";
    if (step !== undefined && units % toUnits(step, decimalsMax) !== 0n)
      return `must be a multiple of ${step}`;
    return undefined;
  } catch {
    return "has more digits than there can be";
  }
}
