import type { OrderProgress } from "./order.js";

/** How far an order was filled by an event, as the event's row has it. Money stands in texts: JSON numbers do not hold it. */
export interface OrderDetails {
  size: number | null;
  filled: number;
  quote_filled: string;
  fee: string;
}

export function writeDetails({ size, filled, quoteFilled, fee }: OrderProgress): OrderDetails {
  return { size, filled, quote_filled: quoteFilled.toString(), fee: fee.toString() };
}

export function readDetails({ size, filled, quote_filled, fee }: OrderDetails): OrderProgress {
  return { size, filled, quoteFilled: BigInt(quote_filled), fee: BigInt(fee) };
}
