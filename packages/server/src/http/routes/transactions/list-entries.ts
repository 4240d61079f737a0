import { LedgerEntries, TransactionPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { transactionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function listEntries({ listEntries: list }: Pick<UseCases, "listEntries">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/transactions/:id/entries",
      access: "transactions:read",
      operationId: "listLedgerEntries",
      tag: "Transactions",
      summary: "List the entries of a transaction in the ledger",
      description:
        "What it has moved: its amount, and what its network charged. What is only held is not moved, so a transaction that waits has none.",
      params: TransactionPath,
      success: { status: 200, schema: LedgerEntries, description: "All of its entries." },
      errors: ["TRANSACTION_NOT_FOUND"],
    },
    async (request) =>
      unwrap(await list(principalOf(request).principal.tenantId, transactionIdOf(request.params))),
  );
}
