import { timeOfUuidV7 } from "@bursar/domain";
import {
  type WebhookDelivery as DeliveryBody,
  type WebhookEndpoint as EndpointBody,
  showId,
  type WebhookDeliverySummary,
} from "@bursar/protocol";
import type { Delivery } from "./delivery.js";
import type { WebhookEndpoint } from "./endpoint.js";
import type { ShownSecret } from "./endpoint-secrets.js";

/** An endpoint as the API shows it: never a secret. */
export function presentEndpoint(endpoint: WebhookEndpoint): EndpointBody {
  return {
    id: showId("whe", endpoint.id),
    object: "webhook_endpoint",
    url: endpoint.url,
    events: [...endpoint.events] as EndpointBody["events"],
    description: endpoint.description,
    client_id: endpoint.authority === null ? null : showId("cli", endpoint.authority.clientId),
    ...presentState(endpoint),
    verified_at: endpoint.verifiedAt?.toISOString() ?? null,
    disabled_at: endpoint.disabledAt?.toISOString() ?? null,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    old_secret_until: endpoint.secrets.old?.until.toISOString() ?? null,
    version: endpoint.version,
    created_by: endpoint.createdBy === null ? null : showId("cli", endpoint.createdBy),
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}

/** What is not sent to is disabled, whatever its row says. The reason in the row comes first: ending it is left to do afterwards. */
function presentState({ isTampered, isClientDisabled, state, disabledReason }: WebhookEndpoint) {
  if (isTampered === true && state !== "deleted")
    return { state: "disabled" as const, disabled_reason: "tampered" as const };
  if (isClientDisabled === true && state !== "deleted" && state !== "disabled")
    return { state: "disabled" as const, disabled_reason: "client_disabled" as const };
  return { state, disabled_reason: disabledReason };
}

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
export function presentDelivery(delivery: Delivery): Omit<DeliveryBody, "request"> {
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

/** A new secret, in the only response that shows it; nulls if there is none. */
export function presentSecret<S extends ShownSecret | null>(shown: S) {
  type Shown<T> = S extends null ? T | null : T;
  return {
    secret: (shown?.secret ?? null) as Shown<string>,
    key_id: (shown?.keyId ?? null) as Shown<string>,
  };
}
