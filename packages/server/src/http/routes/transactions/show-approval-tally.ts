import { ApprovalTally, TransactionPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { transactionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function showApprovalTally({ showApprovalTally: show }: Pick<UseCases, "showApprovalTally">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/transactions/:id/approvals/tally",
      access: "transactions:read",
      operationId: "showApprovalTally",
      tag: "Transactions",
      summary: "Count the approvals of a transaction that waits for them",
      description:
        "Which decisions count now, and why others do not: as the service counts them when it decides whether the transaction goes on. It changes with the approvers, so it has no version and no `ETag`. Each client that is read to tell who is independent of whom is charged to the quota.",
      params: TransactionPath,
      success: { status: 200, schema: ApprovalTally, description: "The decisions, and what they amount to." },
      errors: ["TRANSACTION_NOT_FOUND", "NOT_AWAITING_APPROVAL", "TRANSACTION_TAMPERED"],
    },
    async (request) => unwrap(await show(originOf(request), transactionIdOf(request.params))),
  );
}
