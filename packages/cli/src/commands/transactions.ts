import type { ListTransactionsQuery } from "@bursar/client";
import { decideApproval } from "../approval/decide-approval.js";
import type { Command } from "./command.js";
import { createTransaction, txColumns, watchTransactions } from "./create-transaction.js";
import { idempotencyKey, listCommand, oneCommand } from "./lists.js";
import { showTransaction } from "./show-transaction.js";

const states = [
  "accepted",
  "awaiting_approval",
  "processing",
  "broadcast",
  "confirming",
  "completed",
  "rejected",
  "failed",
  "cancelled",
];
const transaction = { name: "transaction", about: "the id of the transaction" };
const comment = { name: "comment", value: "text", about: "a comment that is stored with the decision" };
const opsOfDecision = [
  "GET /v1/transactions/{id}",
  "GET /v1/me",
  "GET /v1/assets",
  "POST /v1/transactions/{id}/approvals",
] as const;

export const transactionCommands: readonly Command[] = [
  {
    path: "tx create",
    summary: "send a payment, once",
    arguments: [
      { name: "amount", about: "such as 125.50" },
      { name: "asset", about: "the code of the asset, such as USD" },
    ],
    options: [
      {
        name: "reference",
        value: "text",
        about: "your own reference, such as the number of an invoice",
        required: true,
      },
      { name: "from", value: "wallet", about: "the source; the primary wallet by default" },
      { name: "to", value: "wallet|address", about: "the destination; the settlement wallet by default" },
      { name: "metadata", value: "name=value", about: "your own data", many: true },
      {
        name: "expires-at",
        value: "time",
        about: "when it fails if it was not processed, such as 2026-12-31T12:00:00Z",
      },
      idempotencyKey,
      { name: "wait", about: "wait until it is final; exit with 6 unless it is completed" },
    ],
    operations: ["POST /v1/transactions", "GET /v1/transactions/{id}"],
    movesMoney: true,
    run: createTransaction,
  },
  {
    path: "tx get",
    summary: "show a transaction with its history",
    arguments: [transaction],
    operations: ["GET /v1/transactions/{id}", "GET /v1/transactions/{id}/approvals/tally"],
    run: showTransaction,
  },
  listCommand<ListTransactionsQuery & { created_by?: string }>({
    path: "tx list",
    summary: "list transactions, newest first",
    operation: "GET /v1/transactions",
    options: [
      { name: "state", value: "state", about: "only in this state", many: true, choices: states },
      { name: "reference", value: "text", about: "only with this reference" },
      { name: "asset", value: "asset", about: "only of this asset" },
      { name: "wallet-id", value: "wallet", about: "only from or to this wallet" },
      { name: "created-by", value: "client", about: "only of this client" },
      { name: "idempotency-key", value: "key", about: "only the one that this key created" },
      { name: "created-after", value: "time", about: "only those created at this time or later" },
      { name: "created-before", value: "time", about: "only those created before this time" },
    ],
    columns: txColumns,
    read: (bursar, { created_by: client_id, ...query }) =>
      bursar.transactions.list({ ...query, ...(client_id === undefined ? {} : { client_id }) }),
  }),
  {
    path: "tx watch",
    summary: "show each change of a transaction until it is final, or of all transactions",
    arguments: [{ ...transaction, optional: true }],
    operations: ["GET /v1/transactions/{id}", "GET /v1/stream"],
    watches: true,
    run: watchTransactions,
  },
  oneCommand({
    path: "tx cancel",
    summary: "cancel a transaction that is not under way yet",
    operation: "POST /v1/transactions/{id}/cancel",
    id: "transaction",
    changes: true,
    send: (bursar, id) => bursar.transactions.cancel(id),
  }),
  oneCommand({
    path: "tx speed-up",
    summary: "send a payment that waits for a block again, with higher fees",
    operation: "POST /v1/transactions/{id}/speed-up",
    id: "transaction",
    changes: true,
    send: (bursar, id) => bursar.transactions.speedUp(id),
  }),
  {
    path: "tx approve",
    summary: "show a transaction that waits for approval, and approve exactly what is shown",
    arguments: [transaction],
    options: [comment],
    operations: opsOfDecision,
    movesMoney: true,
    run: (context, given) => decideApproval(context, given, "approve"),
  },
  {
    path: "tx reject",
    summary: "reject a transaction that waits for approval",
    arguments: [transaction],
    options: [comment],
    operations: opsOfDecision,
    changes: true,
    run: (context, given) => decideApproval(context, given, "reject"),
  },
];
