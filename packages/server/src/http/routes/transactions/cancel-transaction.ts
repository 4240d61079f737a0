import { Transaction, TransactionPath } from "@bursar/protocol";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { transactionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function cancelTransaction({ cancelTransaction: cancel }: Pick<UseCases, "cancelTransaction">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/transactions/:id/cancel",
      access: "transactions:write",
      operationId: "cancelTransaction",
      tag: "Transactions",
      summary: "Cancel a transaction",
      params: TransactionPath,
      success: { status: 202, schema: Transaction },
      errors: ["TRANSACTION_NOT_FOUND", "NOT_CANCELLABLE"],
    },
    async (request, reply) => {
      reply.code(202);
      return presentTransaction(unwrap(await cancel(originOf(request), transactionIdOf(request.params))));
    },
  );
}
