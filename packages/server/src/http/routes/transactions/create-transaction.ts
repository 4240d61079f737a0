import { CreateTransactionBody, Transaction } from "@bursar/protocol";
import { itemsOfPayments } from "../../../app/quotas/take-quota.js";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { requireIdempotencyKey } from "../../access/idempotency-key.js";
import { transactionTag } from "../../entity-tags.js";
import { defineRoute } from "../../route.js";

export function createTransaction({
  createTransaction: create,
  countLimits,
  tagSuffix,
}: Pick<UseCases, "createTransaction" | "countLimits" | "tagSuffix">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/transactions",
      access: "transactions:write",
      operationId: "createTransaction",
      tag: "Transactions",
      summary: "Create a transaction",
      description:
        "Accepted for asynchronous processing: the response is sent once the transaction is durable, before it is processed. Repeating the key with the same body returns the original response; with a different body it is refused. Keys do not expire.",
      body: CreateTransactionBody,
      itemsOf: (_body, tenantId) => itemsOfPayments(1, countLimits(tenantId)),
      idempotent: "required",
      takesNoTurns: true,
      success: {
        status: 202,
        schema: Transaction,
        description: "The transaction is durable and will be processed.",
        headers: ["Location", "Retry-After", "ETag"],
        examples: ["accepted"],
      },
      errors: [
        "IDEMPOTENCY_KEY_MISSING",
        "ASSET_UNKNOWN",
        "AMOUNT_PRECISION_EXCEEDED",
        "AMOUNT_OUT_OF_RANGE",
        "WALLET_UNKNOWN",
        "WALLET_CREATING",
        "ADDRESS_NOT_SUPPORTED",
        "ADDRESS_INVALID",
        "NETWORK_MISMATCH",
        "POLICY_REJECTED",
      ],
    },
    async (request, reply) => {
      const key = requireIdempotencyKey(request);
      const { transaction, replayed } = unwrap(
        await create(originOf(request), key, request.body, request.span?.context),
      );
      const body = presentTransaction(transaction);
      if (replayed) reply.header("idempotent-replayed", "true");
      reply.code(202).header("location", `/v1/transactions/${body.id}`).header("retry-after", "1");
      reply.header("etag", transactionTag(body, tagSuffix()));
      return body;
    },
  );
}
