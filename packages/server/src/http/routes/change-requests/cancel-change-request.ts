import { ChangeRequest, ChangeRequestPath } from "@bursar/protocol";
import type { ChangeRequest as RequestedChange } from "../../../app/change-requests/change-request.js";
import { presentChangeRequest } from "../../../app/change-requests/present-change-request.js";
import { itemsOfChange } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { changeRequestIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { changeScopes } from "./change-scopes.js";

export function cancelChangeRequest({ cancelChange }: Pick<UseCases, "cancelChange">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/change-requests/:id/cancel",
      access: changeScopes,
      operationId: "cancelChangeRequest",
      tag: "Change requests",
      summary: "Cancel a change request",
      description: "Only the client that requested the change can cancel it.",
      params: ChangeRequestPath,
      isStop: true,
      success: {
        status: 200,
        schema: ChangeRequest,
        description: "The cancelled change request.",
        examples: ["cancelled"],
      },
      errors: [
        "CHANGE_REQUEST_NOT_FOUND",
        "CHANGE_REQUEST_CLOSED",
        "CHANGE_REQUEST_TAMPERED",
        "POLICY_REJECTED",
      ],
    },
    async (request) => {
      const onRead = (read: RequestedChange) => {
        request.itemsFound = itemsOfChange(read);
      };
      return presentChangeRequest(
        unwrap(await cancelChange(originOf(request), changeRequestIdOf(request.params), onRead)),
      );
    },
  );
}
