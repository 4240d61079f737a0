import type { TransactionEvent } from "@bursar/domain";

/** A way to move value. The engine decides; a rail says how a transaction that may go ahead begins on it. */
export interface Rail {
  network: string;
  /** What happens first to a transaction that nothing speaks against. */
  firstEvent: Extract<TransactionEvent, "settle" | "begin">;
}
