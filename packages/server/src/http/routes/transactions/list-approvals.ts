import { ApprovalRecords, TransactionPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { transactionIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function listApprovals({ listApprovals: list }: Pick<UseCases, "listApprovals">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/transactions/:id/approvals",
      access: "audit:read",
      operationId: "listApprovals",
      tag: "Transactions",
      summary: "List the decisions of approvers, with their signatures",
      description:
        "Everything that is needed to verify who approved what: the text behind the digest, and the signature, key and body of each signed request.",
      params: TransactionPath,
      success: {
        status: 200,
        schema: ApprovalRecords,
        description: "The decisions, with everything that is needed to verify them.",
        examples: ["transaction"],
      },
      errors: ["TRANSACTION_NOT_FOUND", "NOT_AWAITING_APPROVAL", "TRANSACTION_TAMPERED"],
    },
    async (request) =>
      unwrap(await list(principalOf(request).principal.tenantId, transactionIdOf(request.params))),
  );
}
