import { WebhookEndpoint, WebhookEndpointPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentEndpoint } from "../../../app/webhooks/present-webhooks.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { endpointIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function readWebhookEndpoint({ readEndpoint }: Pick<UseCases, "readEndpoint">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/webhook-endpoints/:id",
      access: "webhooks:manage",
      operationId: "readWebhookEndpoint",
      tag: "Webhooks",
      summary: "Read a webhook endpoint",
      description: "Its secrets are never shown again.",
      params: WebhookEndpointPath,
      success: {
        status: 200,
        schema: WebhookEndpoint,
        description: "The webhook endpoint.",
        examples: ["enabled", "disabled"],
      },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      return presentEndpoint(unwrap(await readEndpoint(tenantId, endpointIdOf(request.params))));
    },
  );
}
