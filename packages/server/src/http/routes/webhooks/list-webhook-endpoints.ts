import { WebhookEndpointPage, WebhookEndpointQuery } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentEndpoint } from "../../../app/webhooks/present-webhooks.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toPage } from "../../cursor.js";
import { defineRoute } from "../../route.js";

export function listWebhookEndpoints({ listEndpoints }: Pick<UseCases, "listEndpoints">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/webhook-endpoints",
      access: "webhooks:manage",
      operationId: "listWebhookEndpoints",
      tag: "Webhooks",
      summary: "List webhook endpoints",
      description: "Newest first.",
      query: WebhookEndpointQuery,
      success: { status: 200, schema: WebhookEndpointPage, description: "A page of webhook endpoints." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const { tenantId } = principalOf(request).principal;
      const found = await listEndpoints(tenantId, limit + 1, readCursor("webhook-endpoints", cursor));
      return toPage("webhook-endpoints", found, limit, ({ id }) => id, presentEndpoint);
    },
  );
}
