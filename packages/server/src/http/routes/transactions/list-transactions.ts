import { TransactionPage, TransactionQuery } from "@bursar/protocol";
import type { Static } from "typebox";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { TransactionFilter } from "../../../app/transactions/transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toBoundedPage } from "../../cursor.js";
import { Refusal } from "../../refusal.js";
import { readQueryId } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function listTransactions({
  listTransactions: list,
  listByDeadline,
}: Pick<UseCases, "listTransactions" | "listByDeadline">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/transactions",
      access: "transactions:read",
      operationId: "listTransactions",
      tag: "Transactions",
      summary: "List transactions",
      description:
        "Newest first, or by `order`. Filters are combined with AND. Pages stay consistent while new transactions arrive.",
      query: TransactionQuery,
      success: { status: 200, schema: TransactionPage, description: "A page of transactions." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor, order } = request.query;
      const { tenantId } = principalOf(request).principal;
      if (order === "deadline") {
        refuseOtherStates(request.query.state);
        const filter = toFilter(request.query);
        const due = await listByDeadline(tenantId, filter, limit + 1, readCursor("deadlines", cursor));
        return toBoundedPage(request, "deadlines", due, limit, ({ transaction }) =>
          presentTransaction(transaction),
        );
      }
      const found = await list(
        tenantId,
        toFilter(request.query),
        limit + 1,
        readCursor("transactions", cursor),
      );
      return toBoundedPage(request, "transactions", found, limit, presentTransaction);
    },
  );
}

/** Only approvals have a deadline. */
function refuseOtherStates(states: readonly string[] = []): void {
  if (states.every((state) => state === "awaiting_approval")) return;
  throw new Refusal("INVALID_REQUEST", {
    details: [{ path: "query.order", reason: "`deadline` lists only the state `awaiting_approval`" }],
  });
}

function toFilter(query: Static<typeof TransactionQuery>): TransactionFilter {
  const {
    kind,
    state,
    idempotency_key,
    reference,
    asset,
    wallet_id,
    client_id,
    created_after,
    created_before,
  } = query;
  return {
    ...(kind === undefined ? {} : { kind }),
    ...(state === undefined ? {} : { states: state }),
    ...(idempotency_key === undefined ? {} : { idempotencyKey: idempotency_key }),
    ...(reference === undefined ? {} : { reference }),
    ...(asset === undefined ? {} : { asset }),
    ...(wallet_id === undefined ? {} : { walletId: readQueryId("wlt", "wallet_id", wallet_id) }),
    ...(client_id === undefined ? {} : { clientId: readQueryId("cli", "client_id", client_id) }),
    ...(created_after === undefined ? {} : { createdAfter: new Date(created_after) }),
    ...(created_before === undefined ? {} : { createdBefore: new Date(created_before) }),
  };
}
