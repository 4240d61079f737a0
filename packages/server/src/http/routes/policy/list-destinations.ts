import { DestinationPage, DestinationQuery } from "@bursar/protocol";
import type { DestinationFilter } from "../../../app/destinations/destination.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toBoundedPage } from "../../cursor.js";
import { Refusal } from "../../refusal.js";
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
      const { limit = 50, cursor, ...given } = request.query;
      const { tenantId } = principalOf(request).principal;
      const filter = readFilter(given);
      const found = await list(tenantId, filter, limit + 1, readCursor("destinations", cursor));
      return toBoundedPage(request, "destinations", found, limit, (one) => presentDestination(one));
    },
  );
}

/** Without its network, a page would have to sort all that list this address on any network. */
function readFilter({ network, address, ...rest }: DestinationFilter): DestinationFilter {
  if (address === undefined) return network === undefined ? rest : { ...rest, network };
  if (network !== undefined) return { ...rest, network, address };
  throw new Refusal("INVALID_REQUEST", {
    details: [{ path: "query.address", reason: "needs `network` beside it" }],
  });
}
