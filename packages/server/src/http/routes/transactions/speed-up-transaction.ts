import { ChangedTransaction, TransactionPath } from "@bursar/protocol";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { presentChanged } from "../../present-changed.js";
import { transactionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

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
        "Sends a transaction in the state `broadcast` again with fees that are at least 12.5 % higher, up to twice what the network asks for now, and within its fee cap and `fee_max`. Only one of the two can be included. Of a wallet with several such transactions only the one with the lowest nonce can be sped up, because the others wait for it. `hash` stays that of the first one until a block contains one of them, because a replacement is no change of the transaction: it has no version and no event. `GET /v1/search` finds the transaction by the hash of each. The response has only the id and the state of the transaction if the client lacks `transactions:read`.",
      params: TransactionPath,
      success: {
        status: 202,
        schema: ChangedTransaction,
        description: "The replacement was requested.",
        examples: ["broadcast", "summary"],
      },
      errors: ["TRANSACTION_NOT_FOUND", "NOT_REPLACEABLE"],
    },
    async (request, reply) => {
      reply.code(202);
      const origin = originOf(request);
      return presentChanged(
        origin,
        presentTransaction(unwrap(await speedUp(origin, transactionIdOf(request.params)))),
      );
    },
  );
}
