import { showId, type WebhookTest } from "@bursar/protocol";
import type { ClientOrigin } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import type { Refused } from "../requests/refused.js";
import type { AttemptDelivery } from "./attempt-delivery.js";
import type { EndpointStore } from "./endpoint.js";
import { presentEndpoint } from "./present-webhooks.js";

export interface TestEndpointDeps {
  endpoints: Pick<EndpointStore, "readEndpoint" | "changeEndpoint">;
  attempt: AttemptDelivery;
  audit: Pick<AuditRecorder, "recordAct">;
  newUuid: () => string;
  now: () => number;
  /** Notifies the senders, so that a change takes effect at once. */
  onChanged: (tenantId: string) => void;
}

export type TestEndpoint = (origin: ClientOrigin, id: string) => Promise<WebhookTest | Refused>;

/**
 * Sends an `endpoint.test` at once, signed like any delivery, and returns the response. It is not an event and is not stored. If an endpoint
 * that was failing accepts it, the pause after its failures ends. It is recorded before it is sent: it is a request to a host that the caller
 * has chosen.
 */
export function createEndpointTester(deps: TestEndpointDeps): TestEndpoint {
  const { endpoints, attempt, audit, newUuid, now } = deps;
  return async (origin, id) => {
    const { tenantId } = origin.principal;
    const endpoint = await endpoints.readEndpoint(tenantId, id);
    if (endpoint === undefined) return { refused: "WEBHOOK_ENDPOINT_NOT_FOUND" };
    if (endpoint.isTampered === true) return { refused: "WEBHOOK_ENDPOINT_TAMPERED" };
    if (endpoint.verifiedAt === null) return { refused: "WEBHOOK_ENDPOINT_UNVERIFIED" };
    const deliveryId = newUuid();
    const body = JSON.stringify({
      event: "endpoint.test",
      delivery_id: showId("dlv", deliveryId),
      sequence: null,
      occurred_at: new Date(now()).toISOString(),
      data: { webhook_endpoint: presentEndpoint(endpoint) },
    });
    audit.recordAct(origin, "webhook_endpoint.test", showId("whe", id));
    const { attempt: made, verdict } = await attempt(endpoint, deliveryId, 1, body);
    if (verdict === "delivered" && endpoint.failingSince !== null) await endFailing(deps, tenantId, id);
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

async function endFailing(
  { endpoints, now, onChanged }: TestEndpointDeps,
  tenantId: string,
  id: string,
): Promise<void> {
  await endpoints.changeEndpoint(
    tenantId,
    id,
    ({ state, failingSince }) =>
      state === "enabled" && failingSince !== null ? { state: { to: "enabled" } } : {},
    new Date(now()),
    undefined,
  );
  onChanged(tenantId);
}
