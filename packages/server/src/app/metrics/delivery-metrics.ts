import { timeOfUuidV7 } from "@bursar/domain";
import { createHistogram, createLabelledCounter, type Metric } from "../../runtime/metric.js";
import type { AttemptEvent } from "../webhooks/authorize-delivery.js";

export interface DeliveryMetrics {
  /** The same attempts, counted. */
  count: (attempt: AttemptEvent) => AttemptEvent;
  metrics: readonly Metric[];
}

const attemptBoundsSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60];
const delayBoundsSeconds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600, 86_400];

/** What this process has sent; of all processes together it is the sum. */
export function createDeliveryMetrics(now: () => number): DeliveryMetrics {
  const attempts = createHistogram(["outcome"], attemptBoundsSeconds);
  const delays = createHistogram([], delayBoundsSeconds);
  const finished = createLabelledCounter(["state"]);
  return {
    count: (attempt) => async (endpoint, deliveryId, number, body, event) => {
      const attempted = await attempt(endpoint, deliveryId, number, body, event);
      if (attempted === "stopped") return attempted;
      const { verdict, next } = attempted;
      attempts.observe([verdict], attempted.attempt.latencyMs / 1000);
      if (next.state !== "pending") finished.add([next.state]);
      if (verdict === "delivered") delays.observe([], (now() - timeOfUuidV7(deliveryId)) / 1000);
      return attempted;
    },
    metrics: [
      {
        name: "bursar_webhook_attempt_duration_seconds",
        help: "The duration of requests to webhook endpoints, by outcome.",
        kind: "histogram",
        read: attempts.read,
      },
      {
        name: "bursar_webhook_delivery_delay_seconds",
        help: "The time from an event to its delivery, retries included.",
        kind: "histogram",
        read: delays.read,
      },
      {
        name: "bursar_webhook_deliveries_total",
        help: "Webhook deliveries that are final: delivered, or exhausted after the last attempt.",
        kind: "counter",
        read: finished.samples,
      },
    ],
  };
}
