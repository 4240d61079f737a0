import { DestinationPage, DestinationQuery } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toBoundedPage } from "../../cursor.js";
import { defineRoute } from "../../route.js";

export function listDestinations({
  listDestinations: list,
  presentDestination,
}: Pick<UseCases, "listDestinations" | "presentDestination">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/destinations",
      access: "policies:read",
      operationId: "listDestinations",
      tag: "Policy",
      summary: "List the addresses on the allow-list",
      description: "Newest first. Filters are combined with AND.",
      query: DestinationQuery,
      success: { status: 200, schema: DestinationPage, description: "A page of addresses." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor, ...filter } = request.query;
      const { tenantId } = principalOf(request).principal;
      const found = await list(tenantId, filter, limit + 1, readCursor("destinations", cursor));
      return toBoundedPage(request, "destinations", found, limit, (one) => presentDestination(one));
    },
  );
}
