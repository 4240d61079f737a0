import { readId, WebhookDeliveryPage, WebhookDeliveryQuery } from "@bursar/protocol";
import type { Static } from "typebox";
import { readSequence } from "../../../app/events/event.js";
import type { UseCases } from "../../../app/use-cases.js";
import type { DeliveryFilter } from "../../../app/webhooks/delivery.js";
import { presentDeliverySummary } from "../../../app/webhooks/present-webhooks.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toBoundedPage } from "../../cursor.js";
import { Refusal } from "../../refusal.js";
import { defineRoute } from "../../route.js";

export function listWebhookDeliveries({ listDeliveries }: Pick<UseCases, "listDeliveries">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/webhook-deliveries",
      access: "webhooks:manage",
      operationId: "listWebhookDeliveries",
      tag: "Webhooks",
      summary: "List webhook deliveries",
      description:
        "Newest first. Filters are combined with AND. Deliveries are retained for 30 days unless configured otherwise.",
      query: WebhookDeliveryQuery,
      success: { status: 200, schema: WebhookDeliveryPage, description: "A page of deliveries." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const { tenantId } = principalOf(request).principal;
      const beforeId = readCursor("webhook-deliveries", cursor);
      const found = await listDeliveries(tenantId, toFilter(request.query), limit + 1, beforeId);
      return toBoundedPage(request, "webhook-deliveries", found, limit, presentDeliverySummary);
    },
  );
}

function toFilter(query: Static<typeof WebhookDeliveryQuery>): DeliveryFilter {
  const { endpoint_id, event, sequence, state, created_after, created_before } = query;
  return {
    ...(endpoint_id === undefined ? {} : { endpointId: readEndpointId(endpoint_id) }),
    ...(event === undefined ? {} : { event }),
    ...(sequence === undefined ? {} : { sequence: readSequence(sequence) }),
    ...(state === undefined ? {} : { state }),
    ...(created_after === undefined ? {} : { createdAfter: new Date(created_after) }),
    ...(created_before === undefined ? {} : { createdBefore: new Date(created_before) }),
  };
}

function readEndpointId(text: string): string {
  const id = readId("whe", text);
  if (id !== undefined) return id;
  throw new Refusal("INVALID_REQUEST", {
    details: [{ path: "query.endpoint_id", reason: "is not a webhook endpoint id" }],
  });
}
