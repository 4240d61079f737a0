import { SpedUpTransaction, TransactionPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { transactionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { presentChanged } from "./present-changed.js";

export function speedUpTransaction({ speedUpTransaction: speedUp }: Pick<UseCases, "speedUpTransaction">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/transactions/:id/speed-up",
      access: "transactions:write",
      operationId: "speedUpTransaction",
      tag: "Transactions",
      summary: "Raise the fee of a transaction on a chain",
      description:
        "Sends a transaction in the state `broadcast` again with fees that are at least 12.5 % higher, up to twice what the network asks for now, and within its fee cap and `fee_max`. Only one of the two can be included. Of a wallet with several such transactions only the one with the lowest nonce can be sped up, because the others wait for it. `hash` changes when the replacement was sent. The response has only the id and the state of the transaction if the client lacks `transactions:read`.",
      params: TransactionPath,
      success: { status: 202, schema: SpedUpTransaction, description: "The replacement was requested." },
      errors: ["TRANSACTION_NOT_FOUND", "NOT_REPLACEABLE"],
    },
    async (request, reply) => {
      reply.code(202);
      const origin = originOf(request);
      return presentChanged(origin, unwrap(await speedUp(origin, transactionIdOf(request.params))));
    },
  );
}
