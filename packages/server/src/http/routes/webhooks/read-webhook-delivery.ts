import { WebhookDelivery, WebhookDeliveryPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { deliveryIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function readWebhookDelivery({ showDelivery }: Pick<UseCases, "showDelivery">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/webhook-deliveries/:id",
      access: "webhooks:manage",
      operationId: "readWebhookDelivery",
      tag: "Webhooks",
      summary: "Read a webhook delivery, what it sends, and its attempts",
      description:
        "`request` has the body as it is sent, byte for byte, if the caller may read events of this kind: with `events:read`, or the scope of the kind.",
      params: WebhookDeliveryPath,
      success: { status: 200, schema: WebhookDelivery, description: "The delivery and its attempts." },
      errors: ["WEBHOOK_DELIVERY_NOT_FOUND"],
    },
    async (request) => {
      const { principal } = principalOf(request);
      return unwrap(await showDelivery(principal, deliveryIdOf(request.params)));
    },
  );
}
