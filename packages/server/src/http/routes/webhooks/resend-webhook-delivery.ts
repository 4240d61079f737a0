import { ResentWebhookDelivery, WebhookDeliveryPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentDelivery } from "../../../app/webhooks/present-webhooks.js";
import { originOf, unwrap } from "../../access/guard.js";
import { readIdempotencyKey } from "../../access/idempotency-key.js";
import { deliveryIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function resendWebhookDelivery({ resendDelivery }: Pick<UseCases, "resendDelivery">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/webhook-deliveries/:id/resend",
      access: "webhooks:manage",
      operationId: "resendWebhookDelivery",
      tag: "Webhooks",
      summary: "Resend a webhook delivery",
      description: "Creates a new delivery with its own id; `repeats` names the original.",
      params: WebhookDeliveryPath,
      idempotent: "honoured",
      success: {
        status: 202,
        schema: ResentWebhookDelivery,
        description: "The new delivery.",
        headers: ["Location"],
      },
      errors: ["WEBHOOK_DELIVERY_NOT_FOUND"],
    },
    async (request, reply) => {
      const { delivery, replayed } = unwrap(
        await resendDelivery(originOf(request), deliveryIdOf(request.params), readIdempotencyKey(request)),
      );
      const body = presentDelivery(delivery);
      if (replayed) reply.header("idempotent-replayed", "true");
      reply.code(202).header("location", `/v1/webhook-deliveries/${body.id}`);
      return body;
    },
  );
}
