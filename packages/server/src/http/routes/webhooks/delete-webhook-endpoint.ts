import { WebhookEndpoint, WebhookEndpointPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentEndpoint } from "../../../app/webhooks/present-webhooks.js";
import { originOf, unwrap } from "../../access/guard.js";
import { endpointIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function deleteWebhookEndpoint({ deleteEndpoint }: Pick<UseCases, "deleteEndpoint">) {
  return defineRoute(
    {
      method: "DELETE",
      path: "/v1/webhook-endpoints/:id",
      access: "webhooks:manage",
      operationId: "deleteWebhookEndpoint",
      passkey: true,
      tag: "Webhooks",
      summary: "Delete a webhook endpoint",
      description:
        "The response shows it for the last time. Pending deliveries are not sent; earlier deliveries can be read as long as they are retained.",
      params: WebhookEndpointPath,
      success: {
        status: 200,
        schema: WebhookEndpoint,
        description: "The deleted endpoint.",
        examples: ["deleted"],
      },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND"],
    },
    async (request) =>
      presentEndpoint(unwrap(await deleteEndpoint(originOf(request), endpointIdOf(request.params)))),
  );
}
