import { ClientPath, ClientUsage, ClientUsageQuery, showId } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { clientIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";
import { readRange } from "../overview/read-range.js";

export function showClientUsage({ showClientUsage: show }: Pick<UseCases, "showClientUsage">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/clients/:client_id/usage",
      access: "clients:manage",
      operationId: "showClientUsage",
      tag: "Clients",
      summary: "Read how much a client requests",
      description:
        "Its requests by hour or day, what they have cost, and what is left of its quotas. Requests are counted when they are answered and written down within about 10 seconds; those to `/oauth` and messages of streams are not counted. Hours are retained for 90 days.",
      params: ClientPath,
      query: ClientUsageQuery,
      success: { status: 200, schema: ClientUsage, description: "The requests of the client." },
      errors: ["CLIENT_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      const clientId = clientIdOf(request.params);
      const { period = "day" } = request.query;
      const { points, quotas } = unwrap(
        await show({ tenantId, clientId, period, ...readRange(request.query) }),
      );
      return {
        object: "client_usage" as const,
        client_id: showId("cli", clientId),
        period,
        data: points.map(({ start, rateLimited, ...point }) => ({
          start: start.toISOString(),
          ...point,
          rate_limited: rateLimited,
        })),
        quotas: quotas.map(({ quotaClass, perSecond, burst, remaining }) => ({
          class: quotaClass,
          per_second: perSecond,
          burst,
          remaining,
        })),
      };
    },
  );
}
