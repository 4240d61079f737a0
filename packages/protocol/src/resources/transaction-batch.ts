import { type Static, Type } from "typebox";
import { ErrorBody } from "../errors/error-body.js";
import { OneOf } from "../values.js";
import { CreateTransactionBody, Transaction } from "./transaction.js";

export const transactionBatchMax = 1000;

/** One request of a batch: what `POST /v1/transactions` takes, with its idempotency key as a field. */
export const TransactionBatchItem = Type.Object(
  {
    idempotency_key: Type.String({ minLength: 1, maxLength: 255 }),
    ...CreateTransactionBody.properties,
  },
  { $id: "TransactionBatchItem", additionalProperties: false },
);
export type TransactionBatchItem = Static<typeof TransactionBatchItem>;

export const CreateTransactionsBody = Type.Object(
  { transactions: Type.Array(TransactionBatchItem, { minItems: 1, maxItems: transactionBatchMax }) },
  { $id: "CreateTransactionsBody", additionalProperties: false },
);

const TransactionBatchItemResult = Type.Object(
  {
    status: OneOf(["accepted", "replayed", "error"], {
      description: "`replayed`: an earlier request had the same key and the same body.",
    }),
    transaction: Type.Optional(Transaction),
    error: Type.Optional(ErrorBody.properties.error),
  },
  { $id: "TransactionBatchItemResult" },
);
export type TransactionBatchItemResult = Static<typeof TransactionBatchItemResult>;

export const TransactionBatchResult = Type.Object(
  { data: Type.Array(TransactionBatchItemResult, { description: "In the order of the request." }) },
  { $id: "TransactionBatchResult" },
);
