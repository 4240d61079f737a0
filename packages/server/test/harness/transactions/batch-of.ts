import { randomUUID } from "node:crypto";

/** A batch of small payments; `more` can give every item a fault. */
export const batchOf = (count: number, more: object = {}) => ({
  transactions: Array.from({ length: count }, () => ({
    idempotency_key: randomUUID(),
    reference: "cost",
    asset: "USD",
    amount: "1",
    ...more,
  })),
});
