import { SearchQuery, SearchResult } from "@bursar/protocol";
import { searchScopes } from "../../../app/search/search.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { defineRoute } from "../../route.js";

export function searchObjects({ search }: Pick<UseCases, "search">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/search",
      access: searchScopes,
      operationId: "search",
      tag: "Overview",
      summary: "Find objects",
      description:
        "Finds objects by their id, `Idempotency-Key`, `X-Request-Id` or address, transactions on a chain by their hash, and transactions and orders by the beginning of their reference. At most 20, exact matches first. Only kinds of objects that the token may read are searched. A request id finds entries of the audit log. These are not verified here: `GET /v1/audit` shows an entry only if it continues the chain.",
      query: SearchQuery,
      success: { status: 200, schema: SearchResult, description: "What was found." },
      errors: [],
    },
    async (request) => {
      const hits = await search(principalOf(request).principal, request.query.q);
      return { data: hits.map(({ kind, id, match, label }) => ({ object: kind, id, match, label })) };
    },
  );
}
