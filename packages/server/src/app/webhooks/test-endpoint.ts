import { showId, type WebhookTest } from "@bursar/protocol";
import type { Refused } from "../requests/refused.js";
import type { AttemptDelivery } from "./attempt-delivery.js";
import type { EndpointStore } from "./endpoint.js";
import { presentEndpoint } from "./present-webhooks.js";

export interface TestEndpointDeps {
  endpoints: Pick<EndpointStore, "readEndpoint">;
  attempt: AttemptDelivery;
  newUuid: () => string;
  now: () => number;
}

export type TestEndpoint = (tenantId: string, id: string) => Promise<WebhookTest | Refused>;

/** Sends an `endpoint.test` at once, signed like any delivery, and returns the response. It is not an event and is not stored. */
export function createEndpointTester({ endpoints, attempt, newUuid, now }: TestEndpointDeps): TestEndpoint {
  return async (tenantId, id) => {
    const endpoint = await endpoints.readEndpoint(tenantId, id);
    if (endpoint === undefined) return { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" };
    if (endpoint.verifiedAt === null) return { refused: "WEBHOOK_ENDPOINT_UNVERIFIED" };
    const deliveryId = newUuid();
    const body = JSON.stringify({
      event: "endpoint.test",
      delivery_id: showId("dlv", deliveryId),
      sequence: null,
      occurred_at: new Date(now()).toISOString(),
      data: { webhook_endpoint: presentEndpoint(endpoint) },
    });
    const { attempt: made, verdict } = await attempt(endpoint, deliveryId, 1, body);
    return {
      delivery_id: showId("dlv", deliveryId),
      delivered: verdict === "delivered",
      status: made.status,
      latency_ms: made.latencyMs,
      error: made.error,
      answer: made.excerpt,
    };
  };
}
