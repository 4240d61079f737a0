import { ApprovalRecords, ChangeRequestPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { changeRequestIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function listChangeDecisions({ listChangeDecisions: list }: Pick<UseCases, "listChangeDecisions">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/change-requests/:id/decisions",
      access: "audit:read",
      operationId: "listChangeDecisions",
      tag: "Change requests",
      summary: "List the decisions on a change request, with their signatures",
      description:
        "Everything that is needed to verify who approved what: the text behind the digest, and the signature, key and body of each signed request.",
      params: ChangeRequestPath,
      success: {
        status: 200,
        schema: ApprovalRecords,
        description: "The decisions, with everything that is needed to verify them.",
        examples: ["change_request"],
      },
      errors: ["CHANGE_REQUEST_NOT_FOUND", "CHANGE_REQUEST_TAMPERED"],
    },
    async (request) =>
      unwrap(await list(principalOf(request).principal.tenantId, changeRequestIdOf(request.params))),
  );
}
