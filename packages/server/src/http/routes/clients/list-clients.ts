import { ClientPage, ClientQuery } from "@bursar/protocol";
import { requestCost } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toPage } from "../../cursor.js";
import { defineRoute } from "../../route.js";
import { presentClient } from "./present-client.js";

export function listClients({ listClients: list }: Pick<UseCases, "listClients">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/clients",
      access: "clients:manage",
      operationId: "listClients",
      tag: "Clients",
      summary: "List the tenant's clients",
      description: "Newest first, with their credentials but without their secrets.",
      query: ClientQuery,
      // Each is read with its credentials, and its MAC is verified.
      rowsPerToken: requestCost.clientsPerToken,
      success: { status: 200, schema: ClientPage, description: "A page of clients." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const { tenantId } = principalOf(request).principal;
      const clients = await list(tenantId, limit + 1, readCursor("clients", cursor));
      return toPage("clients", clients, limit, ({ id }) => id, presentClient);
    },
  );
}
