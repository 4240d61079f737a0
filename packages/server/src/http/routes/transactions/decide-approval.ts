import { ChangedTransaction, DecideApprovalBody, TransactionPath } from "@bursar/protocol";
import type { FastifyRequest } from "fastify";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, proofOf, unwrap } from "../../access/guard.js";
import { presentChanged } from "../../present-changed.js";
import { transactionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

/** The decision and the digest, so that what is stored says what was approved. */
function confirmDecision({ params, body }: FastifyRequest) {
  const { decision, digest } = body as DecideApprovalBody;
  return { act: `transaction.${decision}`, target: (params as { id: string }).id, digest };
}

export function decideApproval({ decideApproval: decide }: Pick<UseCases, "decideApproval">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/transactions/:id/approvals",
      access: "transactions:approve",
      operationId: "decideApproval",
      passkey: confirmDecision,
      tag: "Transactions",
      summary: "Approve or reject a transaction that waits for it",
      description:
        "`digest` is the one that the transaction shows under `approval`: it stands for what will be sent. To say the same again changes nothing. One rejection ends the transaction. If the request is signed, the signature is stored with the approval. The response has only the id and the state of the transaction if the client lacks `transactions:read`.",
      params: TransactionPath,
      body: DecideApprovalBody,
      isStop: (body) => (body as DecideApprovalBody).decision === "reject",
      success: {
        status: 202,
        schema: ChangedTransaction,
        description: "The decision is recorded.",
        examples: ["awaiting_approval", "summary"],
      },
      errors: [
        "APPROVER_NOT_INDEPENDENT",
        "TRANSACTION_NOT_FOUND",
        "NOT_AWAITING_APPROVAL",
        "APPROVAL_LIMIT_REACHED",
        "APPROVAL_STALE",
        "TRANSACTION_TAMPERED",
        "POLICY_REJECTED",
      ],
    },
    async (request, reply) => {
      const id = transactionIdOf(request.params);
      const origin = originOf(request);
      const decided = await decide(origin, id, request.body, proofOf(request));
      reply.code(202);
      return presentChanged(origin, presentTransaction(unwrap(decided)));
    },
  );
}
