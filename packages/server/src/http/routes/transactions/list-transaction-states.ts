import { describeTransactionStates, TransactionStates } from "@bursar/protocol";
import { defineRoute } from "../../route.js";

export const listTransactionStates = defineRoute(
  {
    method: "GET",
    path: "/v1/transaction-states",
    access: "transactions:read",
    operationId: "listTransactionStates",
    tag: "Transactions",
    summary: "List the states of a transaction and their transitions",
    success: { status: 200, schema: TransactionStates },
    errors: [],
  },
  () => ({ data: describeTransactionStates() }),
);
