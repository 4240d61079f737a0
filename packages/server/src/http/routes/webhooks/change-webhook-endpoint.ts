import { ChangedWebhookEndpoint, ChangeWebhookEndpointBody, WebhookEndpointPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentEndpoint, presentSecret } from "../../../app/webhooks/present-webhooks.js";
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
      passkey: true,
      tag: "Webhooks",
      summary: "Change a webhook endpoint",
      description:
        "A new URL has a new `secret`, shown only in this response, and its receiver must answer a challenge before anything is sent to it; then pending deliveries go to the new URL. The new `events` apply to future events. A request with `url` makes the endpoint act for the caller: it receives only the kinds of events that the caller may read. If that is another client than before, or one with other scopes, there is a new `secret` also for the same URL. Without `url` the endpoint stays that of its client, and `events` can name only kinds that both this client and the caller may read; `*` requires a caller that may read all of those of the client.",
      params: WebhookEndpointPath,
      body: ChangeWebhookEndpointBody,
      success: {
        status: 200,
        schema: ChangedWebhookEndpoint,
        description: "The changed endpoint, with a new secret if its URL or its client has changed.",
      },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND", "WEBHOOK_ENDPOINT_TAMPERED", "WEBHOOK_URL_REFUSED"],
    },
    async (request) => {
      const { endpoint, secret } = unwrap(
        await changeEndpoint(originOf(request), endpointIdOf(request.params), request.body),
      );
      return { ...presentEndpoint(endpoint), ...presentSecret(secret) };
    },
  );
}
