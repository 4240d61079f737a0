import { ChangeRequest, ChangeRequestPath } from "@bursar/protocol";
import { presentChangeRequest } from "../../../app/change-requests/present-change-request.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { changeRequestIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { changeScopes } from "./change-scopes.js";

export function readChangeRequest({ readChangeRequest: read }: Pick<UseCases, "readChangeRequest">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/change-requests/:id",
      access: changeScopes,
      operationId: "readChangeRequest",
      tag: "Change requests",
      summary: "Read a change request",
      description: "Shows the change, its digest, and the decisions so far.",
      params: ChangeRequestPath,
      success: { status: 200, schema: ChangeRequest, description: "The change request." },
      errors: ["CHANGE_REQUEST_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      return presentChangeRequest(unwrap(await read(tenantId, changeRequestIdOf(request.params))));
    },
  );
}
