import { WebhookDelivery, WebhookDeliveryPath } from "@bursar/protocol";
import type { UseCases } from "../../../app/use-cases.js";
import { presentDelivery } from "../../../app/webhooks/present-webhooks.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { deliveryIdOf } from "../../resource-path.js";
import { defineRoute } from "../../route.js";

export function readWebhookDelivery({ readDelivery }: Pick<UseCases, "readDelivery">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/webhook-deliveries/:id",
      access: "webhooks:manage",
      operationId: "readWebhookDelivery",
      tag: "Webhooks",
      summary: "Read a webhook delivery and its attempts",
      params: WebhookDeliveryPath,
      success: { status: 200, schema: WebhookDelivery },
      errors: ["WEBHOOK_DELIVERY_NOT_FOUND"],
    },
    async (request) => {
      const { tenantId } = principalOf(request).principal;
      return presentDelivery(unwrap(await readDelivery(tenantId, deliveryIdOf(request.params))));
    },
  );
}
