import { ChangeWebhookEndpointBody, WebhookEndpoint, WebhookEndpointPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentEndpoint } from "../../../app/webhooks/present-webhooks.js";
import { originOf, unwrap } from "../../access/guard.js";
import { endpointIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function changeWebhookEndpoint({ changeEndpoint }: Pick<UseCases, "changeEndpoint">) {
  return defineRoute(
    {
      method: "PATCH",
      path: "/v1/webhook-endpoints/:id",
      access: "webhooks:manage",
      operationId: "changeWebhookEndpoint",
      tag: "Webhooks",
      summary: "Change a webhook endpoint",
      description: "Pending deliveries go to the new URL; the new `events` apply to future events.",
      params: WebhookEndpointPath,
      body: ChangeWebhookEndpointBody,
      success: { status: 200, schema: WebhookEndpoint },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND", "WEBHOOK_URL_REFUSED"],
    },
    async (request) =>
      presentEndpoint(
        unwrap(await changeEndpoint(originOf(request), endpointIdOf(request.params), request.body)),
      ),
  );
}
