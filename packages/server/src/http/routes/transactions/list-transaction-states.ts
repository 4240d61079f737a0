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
    description: "A transaction starts as `accepted`; a final state never changes.",
    success: {
      status: 200,
      schema: TransactionStates,
      description: "All states, with what each can become.",
    },
    errors: [],
  },
  () => ({ data: describeTransactionStates() }),
);
