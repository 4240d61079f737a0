import { CreateDepositBody, Transaction } from "@bursar/protocol";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { requireIdempotencyKey } from "../../access/idempotency-key.js";
import { transactionTag } from "../../entity-tags.js";
import { defineRoute } from "../../route.js";

export function createDeposit({
  createDeposit: create,
  tagSuffix,
}: Pick<UseCases, "createDeposit" | "tagSuffix">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/deposits",
      access: "deposits:write",
      operationId: "createDeposit",
      tag: "Transactions",
      summary: "Create a deposit",
      description:
        "Credits a wallet of the book with money that arrived outside Bursar, such as a bank transfer. The result is a transaction of the kind `deposit`, which is completed when the response is sent. No policy evaluates it and it does not count towards limits, because it is not spending; a frozen wallet is credited too. Only the operator grants `deposits:write`. Repeating the key with the same body returns the original response; with a different body it is refused. Keys do not expire.",
      body: CreateDepositBody,
      idempotent: "required",
      success: {
        status: 201,
        schema: Transaction,
        description: "The deposit, which is completed.",
        headers: ["Location", "ETag"],
        examples: ["deposit"],
      },
      errors: [
        "IDEMPOTENCY_KEY_MISSING",
        "ASSET_UNKNOWN",
        "AMOUNT_PRECISION_EXCEEDED",
        "AMOUNT_OUT_OF_RANGE",
        "WALLET_UNKNOWN",
        "NETWORK_MISMATCH",
        "DEPOSIT_NOT_SUPPORTED",
      ],
    },
    async (request, reply) => {
      const key = requireIdempotencyKey(request);
      const created = await create(originOf(request), key, request.body, request.span?.context);
      const { transaction, replayed } = unwrap(created);
      const body = presentTransaction(transaction);
      if (replayed) reply.header("idempotent-replayed", "true");
      reply.code(201).header("location", `/v1/transactions/${body.id}`);
      reply.header("etag", transactionTag(body, tagSuffix()));
      return body;
    },
  );
}
