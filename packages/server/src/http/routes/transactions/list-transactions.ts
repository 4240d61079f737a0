import { readId, TransactionPage, TransactionQuery } from "@bursar/protocol";
import type { Static } from "typebox";
import { presentTransaction } from "../../../app/transactions/present-transaction.js";
import type { TransactionFilter } from "../../../app/transactions/transaction.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toPage } from "../../cursor.js";
import { Refusal } from "../../refusal.js";
import { defineRoute } from "../../route.js";

export function listTransactions({ listTransactions: list }: Pick<UseCases, "listTransactions">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/transactions",
      access: "transactions:read",
      operationId: "listTransactions",
      tag: "Transactions",
      summary: "List transactions",
      description:
        "Newest first. Filters are combined with AND. Pages stay consistent while new transactions arrive.",
      query: TransactionQuery,
      success: { status: 200, schema: TransactionPage },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const { tenantId } = principalOf(request).principal;
      const found = await list(
        tenantId,
        toFilter(request.query),
        limit + 1,
        readCursor("transactions", cursor),
      );
      return toPage("transactions", found, limit, ({ id }) => id, presentTransaction);
    },
  );
}

function toFilter(query: Static<typeof TransactionQuery>): TransactionFilter {
  const { state, reference, asset, wallet_id, created_after, created_before } = query;
  return {
    ...(state === undefined ? {} : { state }),
    ...(reference === undefined ? {} : { reference }),
    ...(asset === undefined ? {} : { asset }),
    ...(wallet_id === undefined ? {} : { walletId: readWalletId(wallet_id) }),
    ...(created_after === undefined ? {} : { createdAfter: new Date(created_after) }),
    ...(created_before === undefined ? {} : { createdBefore: new Date(created_before) }),
  };
}

function readWalletId(text: string): string {
  const id = readId("wlt", text);
  if (id !== undefined) return id;
  throw new Refusal("INVALID_REQUEST", {
    details: [{ path: "query.wallet_id", reason: "is not a wallet id" }],
  });
}
