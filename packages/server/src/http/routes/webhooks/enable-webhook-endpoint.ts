import { WebhookEndpoint, WebhookEndpointPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentEndpoint } from "../../../app/webhooks/present-webhooks.js";
import { originOf, unwrap } from "../../access/guard.js";
import { endpointIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

type Needed = Pick<UseCases, "setEndpointEnabled">;

/** Enabling and disabling differ only in the value that they set. */
function enabledRoute(enabled: boolean, { setEndpointEnabled }: Needed) {
  const verb = enabled ? "enable" : "disable";
  return defineRoute(
    {
      method: "POST",
      path: `/v1/webhook-endpoints/:id/${verb}`,
      access: "webhooks:manage",
      operationId: `${verb}WebhookEndpoint`,
      passkey: true,
      tag: "Webhooks",
      summary: enabled ? "Enable a webhook endpoint" : "Disable a webhook endpoint",
      description: enabled
        ? "Deliveries that were pending when it was disabled are sent now. Events since then are not: replay them from their `sequence`. If it is enabled but failing, the pause after its failures ends."
        : "Nothing is sent to it any more. The tenant's other endpoints receive `endpoint.disabled`.",
      params: WebhookEndpointPath,
      success: {
        status: 200,
        schema: WebhookEndpoint,
        description: "The webhook endpoint.",
        examples: [enabled ? "enabled" : "disabled"],
      },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND", "WEBHOOK_ENDPOINT_TAMPERED"],
    },
    async (request) =>
      presentEndpoint(
        unwrap(await setEndpointEnabled(originOf(request), endpointIdOf(request.params), enabled)),
      ),
  );
}

export const enableWebhookEndpoint = (useCases: Needed) => enabledRoute(true, useCases);
export const disableWebhookEndpoint = (useCases: Needed) => enabledRoute(false, useCases);
