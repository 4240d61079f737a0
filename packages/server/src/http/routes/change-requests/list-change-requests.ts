import { ChangeRequestPage, ChangeRequestQuery } from "@bursar/protocol";
import { presentChangeRequest } from "../../../app/change-requests/present-change-request.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toBoundedPage } from "../../cursor.js";
import { defineRoute } from "../../route.js";
import { changeScopes } from "./change-scopes.js";

export function listChangeRequests({ listChangeRequests: list }: Pick<UseCases, "listChangeRequests">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/change-requests",
      access: changeScopes,
      operationId: "listChangeRequests",
      tag: "Change requests",
      summary: "List change requests",
      description: "Newest first, optionally those of one state.",
      query: ChangeRequestQuery,
      success: { status: 200, schema: ChangeRequestPage, description: "A page of change requests." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor, ...filter } = request.query;
      const { tenantId } = principalOf(request).principal;
      const found = await list(tenantId, filter, limit + 1, readCursor("change-requests", cursor));
      return toBoundedPage(request, "change-requests", found, limit, presentChangeRequest);
    },
  );
}
