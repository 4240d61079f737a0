import {
  CreateTransactionsBody,
  type ErrorCode,
  type ErrorFields,
  errorBody,
  errorCatalog,
  TransactionBatchItem,
  type TransactionBatchItemResult,
  TransactionBatchResult,
  transactionBatchMax,
} from "@bursar/protocol";
import { Type } from "typebox";
import type { ClientOrigin } from "../../../app/audit/audit-entry.js";
import { itemsOfPayments } from "../../../app/quotas/take-quota.js";
import { isRefused } from "../../../app/requests/refused.js";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import type { TraceContext } from "../../../runtime/tracing/trace-context.js";
import { originOf } from "../../access/guard.js";
import { isIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";
import { compileValidator, describeFaults } from "../../validation.js";
import { settleInSlices } from "./settle-in-slices.js";

const bodyBytesMax = 4_194_304;
/** The faults that are reported of each item: a batch can have 1000 invalid ones. */
const detailsMax = 5;

// Items are validated one by one, so that an invalid one gets its own error and the others are accepted.
const CheckedBody = Type.Object(
  { transactions: Type.Array(Type.Unknown(), { minItems: 1, maxItems: transactionBatchMax }) },
  { additionalProperties: false },
);

const validate = compileValidator({ schema: TransactionBatchItem, httpPart: "body" });

export function createTransactions(
  {
    createTransaction: create,
    countLimits,
    recordRefusedItems,
    isUnavailable,
    awaitTurn,
  }: Pick<
    UseCases,
    "createTransaction" | "countLimits" | "recordRefusedItems" | "isUnavailable" | "awaitTurn"
  >,
  publicUrl: string,
) {
  const createOne = createItem(create, publicUrl);
  return defineRoute(
    {
      method: "POST",
      path: "/v1/transactions/batch",
      access: "transactions:write",
      operationId: "createTransactions",
      tag: "Transactions",
      summary: "Create up to 1000 transactions",
      description:
        "Each item is a separate request with its own `idempotency_key` and its own result, in the order given. The batch is not atomic: some items may be accepted and others refused.",
      body: CreateTransactionsBody,
      checkedBody: CheckedBody,
      bodyBytesMax,
      itemsOf: (body, tenantId) =>
        itemsOfPayments((body as { transactions: unknown[] }).transactions.length, countLimits(tenantId)),
      takesNoTurns: true,
      success: {
        status: 202,
        schema: TransactionBatchResult,
        description: "The result of each item, in the order of the request.",
      },
      errors: [],
    },
    async (request, reply) => {
      const origin = originOf(request);
      const results = await settleInSlices(
        request.body.transactions,
        (item, index) => createOne({ origin, trace: request.span?.context }, item, index),
        () => awaitTurn(origin.principal.tenantId),
      );
      const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      // If all failed, so did the request. Otherwise the client must learn which items were accepted.
      if (failures.length === results.length) throw failures[0];
      if (failures.length > 0)
        request.log.error(
          { request_id: request.id, err: failures[0], items: failures.length },
          "items failed",
        );
      reply.code(202);
      const data = results.map((result) =>
        result.status === "fulfilled"
          ? result.value
          : refuse(isUnavailable(result.reason) ? "UNAVAILABLE" : "INTERNAL", {
              requestId: request.id,
              publicUrl,
            }),
      );
      recordRefusedItems(origin, "POST /v1/transactions/batch", codesOf(data));
      return { data };
    },
  );
}

function createItem(create: UseCases["createTransaction"], publicUrl: string) {
  return async (
    { origin, trace }: { origin: ClientOrigin; trace: TraceContext | undefined },
    item: unknown,
    index: number,
  ): Promise<TransactionBatchItemResult> => {
    const request = { requestId: origin.requestId, publicUrl };
    if (!validate(item)) {
      const faults = describeFaults(validate.errors ?? [], `body.transactions.${index}`);
      return refuse("INVALID_REQUEST", { ...request, details: faults.slice(0, detailsMax) });
    }
    const { idempotency_key: key, ...body } = item as TransactionBatchItem;
    if (!isIdempotencyKey(key)) return refuse("IDEMPOTENCY_KEY_INVALID", request);
    const created = await create(origin, key, body, trace);
    if (isRefused(created)) {
      // A use case refers to the body of a single request.
      const details = created.details?.map(({ path, reason }) => ({
        path: path.replace(/^body\./, `body.transactions.${index}.`),
        reason,
      }));
      const { refused, message = errorCatalog[refused].message } = created;
      return refuse(refused, { ...request, message, details });
    }
    const status = created.replayed ? ("replayed" as const) : ("accepted" as const);
    return { status, transaction: presentTransaction(created.transaction) };
  };
}

function codesOf(results: readonly TransactionBatchItemResult[]): ErrorCode[] {
  return results.flatMap((result) => (result.error === undefined ? [] : [result.error.code as ErrorCode]));
}

function refuse(
  code: ErrorCode,
  fields: Omit<ErrorFields, "code" | "message"> & { message?: string },
): TransactionBatchItemResult {
  return { status: "error", ...errorBody({ code, message: errorCatalog[code].message, ...fields }) };
}
