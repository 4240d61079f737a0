import { RotatedWebhookSecret, RotateWebhookSecretBody, WebhookEndpointPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentEndpoint, presentSecret } from "../../../app/webhooks/present-webhooks.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { endpointIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function rotateWebhookSecret({ rotateEndpointSecret }: Pick<UseCases, "rotateEndpointSecret">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/webhook-endpoints/:id/rotate-secret",
      access: "webhooks:manage",
      operationId: "rotateWebhookSecret",
      passkey: true,
      tag: "Webhooks",
      summary: "Rotate a webhook endpoint's secret",
      description:
        "The previous secret also signs for `overlap_seconds`. At most two are live: a second rotation within that time replaces the newer one. The body can be left out. Repeating an `Idempotency-Key` rotates nothing and shows no secret. The caller must be able to read every kind of event that the endpoint receives; from then on it receives only kinds that the caller may read.",
      params: WebhookEndpointPath,
      body: RotateWebhookSecretBody,
      isBodyOptional: true,
      idempotent: "honoured",
      success: { status: 201, schema: RotatedWebhookSecret, description: "The new secret, shown only once." },
      errors: ["WEBHOOK_ENDPOINT_NOT_FOUND", "WEBHOOK_ENDPOINT_TAMPERED"],
    },
    async (request, reply) => {
      const { endpoint, secret } = unwrap(
        await rotateEndpointSecret(
          originOf(request),
          endpointIdOf(request.params),
          request.body,
          readIdempotencyKey(request),
        ),
      );
      reply.code(201);
      if (secret === null) reply.header("idempotent-replayed", "true");
      return { webhook_endpoint: presentEndpoint(endpoint), ...presentSecret(secret) };
    },
  );
}
