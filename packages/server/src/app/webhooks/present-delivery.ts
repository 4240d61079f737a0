import { timeOfUuidV7 } from "@bursar/domain";
import { type WebhookDelivery as DeliveryBody, showId, type WebhookDeliverySummary } from "@bursar/protocol";
import type { Delivery } from "./delivery.js";

/** A delivery as a line of a list. */
export function presentDeliverySummary(delivery: Delivery): WebhookDeliverySummary {
  return {
    id: showId("dlv", delivery.id),
    object: "webhook_delivery",
    endpoint_id: showId("whe", delivery.endpointId),
    event: delivery.event as WebhookDeliverySummary["event"],
    sequence: delivery.sequence,
    state: delivery.state,
    repeats: delivery.repeats === null ? null : showId("dlv", delivery.repeats),
    attempt_count: delivery.attempts.length,
    last_status: delivery.attempts.at(-1)?.status ?? null,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    created_at: new Date(timeOfUuidV7(delivery.id)).toISOString(),
    finished_at: delivery.finishedAt?.toISOString() ?? null,
  };
}

/** A delivery with every attempt. */
export function presentDelivery(delivery: Delivery): DeliveryBody {
  return {
    ...presentDeliverySummary(delivery),
    attempts: delivery.attempts.map(({ at, status, latencyMs, error, excerpt }, index) => ({
      number: index + 1,
      at,
      status,
      latency_ms: latencyMs,
      error,
      answer: excerpt,
    })),
  };
}
