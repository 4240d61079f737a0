import { WebhookEndpointPath, WebhookTest } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { endpointIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function testWebhookEndpoint({ testEndpoint }: Pick<UseCases, "testEndpoint">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/webhook-endpoints/:id/test",
      access: "webhooks:manage",
      operationId: "testWebhookEndpoint",
      tag: "Webhooks",
      summary: "Send a test to a webhook endpoint",
      description:
        "Sends a signed `endpoint.test` immediately and returns the receiver's response. It is not an event, has no `sequence` and is not stored. If a failing endpoint accepts it, the pause after its failures ends.",
      params: WebhookEndpointPath,
      callsOut: true,
      success: { status: 200, schema: WebhookTest, description: "What the receiver answered." },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND", "WEBHOOK_ENDPOINT_TAMPERED", "WEBHOOK_ENDPOINT_UNVERIFIED"],
    },
    async (request) => {
      return unwrap(await testEndpoint(originOf(request), endpointIdOf(request.params)));
    },
  );
}
