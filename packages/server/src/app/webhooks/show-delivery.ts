import { type EventKind, mayReadEvents, showId, type WebhookDelivery } from "@bursar/protocol";
import type { Principal } from "../access/authenticate-request.js";
import type { Refused } from "../requests/refused.js";
import { traceOf } from "./attempt-delivery.js";
import type { Delivery, DeliveryStore } from "./delivery.js";
import { presentDelivery } from "./present-webhooks.js";
import { bodyOf, type RenderEvents } from "./render-events.js";
import { webhookHashes } from "./webhook-hashes.js";

export interface ShowDeliveryDeps {
  deliveries: Pick<DeliveryStore, "readDelivery">;
  renderEvents: RenderEvents;
}

export type ShowDelivery = (principal: Principal, id: string) => Promise<WebhookDelivery | Refused>;

/** Presents a delivery with its attempts, and with what they send if the caller may read events of that kind. */
export function createDeliveryShower({ deliveries, renderEvents }: ShowDeliveryDeps): ShowDelivery {
  return async ({ tenantId, scopes }, id) => {
    const delivery = await deliveries.readDelivery(tenantId, id);
    if (delivery === undefined) return { refused: "WEBHOOK_DELIVERY_NOT_FOUND" };
    const shown = presentDelivery(delivery);
    if (!mayReadEvents([...scopes], delivery.event as EventKind)) return { ...shown, request: null };
    const { endpointId, sequence, attempts } = delivery;
    const due = { tenantId, endpointId, id, sequence, attempts: attempts.length, isFirst: false };
    const [rendered] = await renderEvents([due]);
    // An event that the log has lost, or that cannot be presented, is no reason to hide the attempts.
    if (rendered === undefined || rendered instanceof Error) return { ...shown, request: null };
    return { ...shown, request: requestOf(delivery, bodyOf(rendered, id), rendered.trace !== undefined) };
  };
}

/**
 * The headers that follow from what is stored. The signatures are left out: with them, a reader of this response could repeat the delivery
 * to the receiver for as long as its timestamp is accepted. So is the `traceparent` of a recorded trace: its span is not stored.
 */
function requestOf(
  { id, attempts }: Delivery,
  body: string,
  isTraced: boolean,
): NonNullable<WebhookDelivery["request"]> {
  const last = attempts.at(-1);
  const ofLast = {
    "webhook-timestamp": `${Math.floor(Date.parse(last?.at ?? "") / 1000)}`,
    "webhook-attempt": `${attempts.length}`,
    ...(isTraced ? {} : { traceparent: traceOf(id, attempts.length) }),
  };
  return {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "content-digest": `sha-256=:${webhookHashes.sha256(body)}:`,
      "webhook-id": showId("dlv", id),
      ...(last === undefined ? {} : ofLast),
    },
    body,
  };
}
