import type { ListTransactionsQuery } from "../generated/operations.js";
import type {
  CreateTransactionBody,
  CreateTransactionsBody,
  DecideApprovalBody,
} from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions, CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";
import { createMany } from "./create-many.js";
import { waitFor } from "./wait-for.js";

export function createTransactions(transport: Transport) {
  return {
    /** Requests a payment. It is durable when this returns, and not settled yet: `waitFor` returns its result. */
    create: (body: CreateTransactionBody, options?: CreateOptions) =>
      transport.call("POST /v1/transactions", { body, keyed: true }, options),
    /** Sends one batch of up to 1000 payments, each with its own key. `createMany` takes any number. */
    createBatch: (body: CreateTransactionsBody, options?: CallOptions) =>
      transport.call("POST /v1/transactions/batch", { body, repeatable: true }, options),
    /** Creates any number of payments, in batches; yields the result of each, in order. */
    createMany: createMany(transport),
    get: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/transactions/{id}", { path: { id } }, options),
    /** Waits until a transaction is final, or until a condition holds. */
    waitFor: waitFor(transport),
    list: (query?: ListTransactionsQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/transactions", { query: { ...query, ...position } }, options),
      ),
    cancel: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/transactions/{id}/cancel", { path: { id }, repeatable: true }, options),
    /** Replaces a payment that waits on its chain by one with a higher fee. It is not repeated if its response is lost. */
    speedUp: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/transactions/{id}/speed-up", { path: { id } }, options),
    /** Approves or rejects; `digest` is that of what you have looked at. */
    decide: (id: string, body: DecideApprovalBody, options?: CallOptions) =>
      transport.call(
        "POST /v1/transactions/{id}/approvals",
        { path: { id }, body, repeatable: true },
        options,
      ),
    approvals: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/transactions/{id}/approvals", { path: { id } }, options),
    /** Which of its approvals count now, and why others do not. */
    approvalTally: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/transactions/{id}/approvals/tally", { path: { id } }, options),
    /** What it has moved in the ledger. */
    entries: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/transactions/{id}/entries", { path: { id } }, options),
    states: (options?: CallOptions) => transport.call("GET /v1/transaction-states", {}, options),
  };
}
