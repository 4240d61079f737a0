import { PersonPage, PersonQuery } from "@bursar/protocol";
import { requestCost } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toPage } from "../../cursor.js";
import { defineRoute } from "../../route.js";
import { presentPerson } from "./present-person.js";

export function listPeople({ listPeople: list }: Pick<UseCases, "listPeople">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/people",
      access: "clients:manage",
      operationId: "listPeople",
      tag: "People",
      summary: "List the tenant's people",
      description: "Newest first.",
      query: PersonQuery,
      rowsPerToken: requestCost.clientsPerToken,
      success: { status: 200, schema: PersonPage, description: "A page of people." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const { tenantId } = principalOf(request).principal;
      const people = await list(tenantId, limit + 1, readCursor("people", cursor));
      return toPage("people", people, limit, ({ id }) => id, presentPerson);
    },
  );
}
