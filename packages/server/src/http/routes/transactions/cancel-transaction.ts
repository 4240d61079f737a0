import { ChangedTransaction, TransactionPath } from "@bursar/protocol";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { presentChanged } from "../../present-changed.js";
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
      description:
        "The response has only the id and the state of the transaction if the client lacks `transactions:read`.",
      params: TransactionPath,
      isStop: true,
      success: {
        status: 202,
        schema: ChangedTransaction,
        description: "The cancelled transaction.",
        examples: ["cancelled", "summary"],
      },
      errors: ["TRANSACTION_NOT_FOUND", "NOT_CANCELLABLE", "TRANSACTION_TAMPERED"],
    },
    async (request, reply) => {
      reply.code(202);
      const origin = originOf(request);
      return presentChanged(
        origin,
        presentTransaction(unwrap(await cancel(origin, transactionIdOf(request.params)))),
      );
    },
  );
}
