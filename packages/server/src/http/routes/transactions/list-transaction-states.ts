import { describeTransactionStates, TransactionStates } from "@bursar/protocol";
import { defineRoute } from "../../route.js";

export const listTransactionStates = defineRoute(
  {
    method: "GET",
    path: "/v1/transaction-states",
    access: "transactions:read",
    operationId: "listTransactionStates",
    tag: "Transactions",
    summary: "The states of a transaction and where each may lead",
    success: { status: 200, schema: TransactionStates },
    errors: [],
  },
  () => ({ data: describeTransactionStates() }),
);
