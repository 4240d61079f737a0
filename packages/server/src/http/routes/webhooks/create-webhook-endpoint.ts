import { CreatedWebhookEndpoint, CreateWebhookEndpointBody } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentEndpoint, presentSecret } from "../../../app/webhooks/present-webhooks.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { defineRoute } from "../../route.js";

export function createWebhookEndpoint({ createEndpoint }: Pick<UseCases, "createEndpoint">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/webhook-endpoints",
      access: "webhooks:manage",
      operationId: "createWebhookEndpoint",
      passkey: true,
      tag: "Webhooks",
      summary: "Create a webhook endpoint",
      description:
        "It is `pending` until its receiver has answered a challenge (`POST /v1/webhook-endpoints/{id}/verify`). From then on it receives every event of the kinds in `events`; by default of all kinds that the client may read. The secret is shown only in this response.",
      body: CreateWebhookEndpointBody,
      idempotent: "honoured",
      success: {
        status: 201,
        schema: CreatedWebhookEndpoint,
        description: "The endpoint and its secret, which is shown only once.",
        headers: ["Location"],
      },
      errors: ["WEBHOOK_URL_REFUSED", "WEBHOOK_ENDPOINTS_TOO_MANY"],
    },
    async (request, reply) => {
      const { endpoint, secret } = unwrap(
        await createEndpoint(originOf(request), request.body, readIdempotencyKey(request)),
      );
      const body = presentEndpoint(endpoint);
      if (secret === null) reply.header("idempotent-replayed", "true");
      reply.code(201).header("location", `/v1/webhook-endpoints/${body.id}`);
      return { ...body, ...presentSecret(secret) };
    },
  );
}
