import { CancelledTransaction, TransactionPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { transactionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentChanged } from "./present-changed.js";

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
      success: { status: 202, schema: CancelledTransaction, description: "The cancelled transaction." },
      errors: ["TRANSACTION_NOT_FOUND", "NOT_CANCELLABLE", "TRANSACTION_TAMPERED"],
    },
    async (request, reply) => {
      reply.code(202);
      const origin = originOf(request);
      return presentChanged(origin, unwrap(await cancel(origin, transactionIdOf(request.params))));
    },
  );
}
