import {
  CreateTransactionBody,
  type ErrorCode,
  errorBody,
  errorCatalog,
  Transaction,
} from "@bursar/protocol";
import { type Static, Type } from "typebox";
import type { Principal } from "../../../app/access/authenticate-request.js";
import { isRefused } from "../../../app/requests/refused.js";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { isIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";
import { createValidatorCompiler, describeFaults } from "../../validation.js";

const itemsMax = 1000;
const bodyBytesMax = 4_194_304;

const Item = Type.Object(
  { idempotency_key: Type.String({ minLength: 1, maxLength: 255 }), ...CreateTransactionBody.properties },
  { additionalProperties: false },
);
type Item = Static<typeof Item>;

// The items are checked one by one, so that a wrong one is answered in its place and does not fail its neighbours.
const Batch = Type.Object(
  { transactions: Type.Array(Type.Unknown(), { minItems: 1, maxItems: itemsMax }) },
  { additionalProperties: false },
);

const Result = Type.Object({
  status: Type.Enum(["accepted", "replayed", "error"]),
  transaction: Type.Optional(Transaction),
  error: Type.Optional(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      request_id: Type.String(),
      details: Type.Optional(Type.Array(Type.Object({ path: Type.String(), reason: Type.String() }))),
    }),
  ),
});
const Results = Type.Object({ data: Type.Array(Result) }, { $id: "TransactionBatchResult" });

const validate = createValidatorCompiler()({ schema: Item, httpPart: "body" });

export function createTransactions({
  createTransaction: create,
  isUnavailable,
}: Pick<UseCases, "createTransaction" | "isUnavailable">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/transactions/batch",
      access: "transactions:write",
      operationId: "createTransactions",
      tag: "Transactions",
      summary: "Create up to 1000 transactions",
      description:
        "Each item is a request of its own, with its own `idempotency_key` and its own result, in the order given. The batch as a whole is not atomic: some may be accepted and others not.",
      body: Batch,
      bodyBytesMax,
      success: { status: 202, schema: Results },
      errors: [],
    },
    async (request, reply) => {
      const { principal } = principalOf(request);
      const results = await Promise.allSettled(
        request.body.transactions.map((item, index) => createOne(create, principal, item, index, request.id)),
      );
      const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      // Where nothing went well, the request has failed as a whole; else whoever was accepted must be told.
      if (failures.length === results.length) throw failures[0];
      if (failures.length > 0)
        request.log.error(
          { request_id: request.id, err: failures[0], items: failures.length },
          "items failed",
        );
      reply.code(202);
      return {
        data: results.map((result) =>
          result.status === "fulfilled"
            ? result.value
            : refuse(isUnavailable(result.reason) ? "UNAVAILABLE" : "INTERNAL", request.id),
        ),
      };
    },
  );
}

async function createOne(
  create: UseCases["createTransaction"],
  principal: Principal,
  item: unknown,
  index: number,
  requestId: string,
): Promise<Static<typeof Result>> {
  if (!validate(item)) {
    const details = describeFaults(validate.errors ?? [], `body.transactions.${index}`);
    return refuse("INVALID_REQUEST", requestId, { details });
  }
  const { idempotency_key: key, ...body } = item as Item;
  if (!isIdempotencyKey(key)) return refuse("IDEMPOTENCY_KEY_INVALID", requestId);
  const created = await create(principal, key, body);
  if (isRefused(created)) {
    // A use case speaks of a body of one; here it is one of many.
    const details = created.details?.map(({ path, reason }) => ({
      path: path.replace(/^body\./, `body.transactions.${index}.`),
      reason,
    }));
    return refuse(created.refused, requestId, { message: created.message, details });
  }
  const status = created.replayed ? ("replayed" as const) : ("accepted" as const);
  return { status, transaction: presentTransaction(created.transaction) };
}

function refuse(
  code: ErrorCode,
  requestId: string,
  more: { message?: string | undefined; details?: Parameters<typeof errorBody>[3] } = {},
): Static<typeof Result> {
  const { message = errorCatalog[code].message, details } = more;
  return { status: "error", ...errorBody(code, message, requestId, details) };
}
