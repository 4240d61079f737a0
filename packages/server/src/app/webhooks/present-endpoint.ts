import { type WebhookEndpoint as EndpointBody, showId } from "@bursar/protocol";
import type { WebhookEndpoint } from "./endpoint.js";

/** An endpoint as the API shows it: never a secret. */
export function presentEndpoint(endpoint: WebhookEndpoint): EndpointBody {
  return {
    id: showId("whe", endpoint.id),
    object: "webhook_endpoint",
    url: endpoint.url,
    events: [...endpoint.events] as EndpointBody["events"],
    description: endpoint.description,
    state: endpoint.state,
    disabled_reason: endpoint.disabledReason,
    disabled_at: endpoint.disabledAt?.toISOString() ?? null,
    failing_since: endpoint.failingSince?.toISOString() ?? null,
    old_secret_until: endpoint.secrets.old?.until.toISOString() ?? null,
    version: endpoint.version,
    created_at: endpoint.createdAt.toISOString(),
    updated_at: endpoint.updatedAt.toISOString(),
  };
}
