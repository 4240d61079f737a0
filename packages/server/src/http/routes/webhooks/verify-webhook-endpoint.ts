import { WebhookEndpointPath, WebhookVerification } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentEndpoint } from "../../../app/webhooks/present-webhooks.js";
import { originOf, unwrap } from "../../access/guard.js";
import { endpointIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function verifyWebhookEndpoint({ verifyEndpoint }: Pick<UseCases, "verifyEndpoint">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/webhook-endpoints/:id/verify",
      access: "webhooks:manage",
      operationId: "verifyWebhookEndpoint",
      tag: "Webhooks",
      summary: "Verify a webhook endpoint",
      description:
        'Sends a signed `endpoint.challenge` immediately. The endpoint is verified if the receiver answers with a 2xx status and returns `data.challenge`, as plain text or as `{"challenge": …}`. It can be repeated; for a verified endpoint it does nothing.',
      params: WebhookEndpointPath,
      callsOut: true,
      success: {
        status: 200,
        schema: WebhookVerification,
        description: "Whether the receiver has answered a challenge.",
      },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND", "WEBHOOK_ENDPOINT_TAMPERED"],
    },
    async (request) => {
      const { endpoint, status, error } = unwrap(
        await verifyEndpoint(originOf(request), endpointIdOf(request.params)),
      );
      return {
        webhook_endpoint: presentEndpoint(endpoint),
        verified: endpoint.verifiedAt !== null,
        status,
        error,
      };
    },
  );
}
