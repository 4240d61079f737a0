import type { ListWebhookEndpointsQuery, ShowWebhookStatsQuery } from "../generated/operations.js";
import type {
  ChangeWebhookEndpointBody,
  CreateWebhookEndpointBody,
  RotateWebhookSecretBody,
} from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions, CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createWebhookEndpoints(transport: Transport) {
  return {
    /** The response has the secret, which is shown once. */
    create: (body: CreateWebhookEndpointBody, options?: CreateOptions) =>
      transport.call("POST /v1/webhook-endpoints", { body, keyed: true }, options),
    get: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/webhook-endpoints/{id}", { path: { id } }, options),
    list: (query?: ListWebhookEndpointsQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/webhook-endpoints", { query: { ...query, ...position } }, options),
      ),
    change: (id: string, body: ChangeWebhookEndpointBody, options?: CallOptions) =>
      transport.call("PATCH /v1/webhook-endpoints/{id}", { path: { id }, body }, options),
    delete: (id: string, options?: CallOptions) =>
      transport.call("DELETE /v1/webhook-endpoints/{id}", { path: { id } }, options),
    enable: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/webhook-endpoints/{id}/enable", { path: { id }, repeatable: true }, options),
    disable: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/webhook-endpoints/{id}/disable", { path: { id }, repeatable: true }, options),
    /** The response has the new secret, which is shown once; the old one also signs for a while. */
    rotateSecret: (id: string, body?: RotateWebhookSecretBody, options?: CreateOptions) =>
      transport.call(
        "POST /v1/webhook-endpoints/{id}/rotate-secret",
        { path: { id }, ...(body === undefined ? {} : { body }), keyed: true },
        options,
      ),
    /** Sends a test at once and returns what the receiver answered. */
    test: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/webhook-endpoints/{id}/test", { path: { id } }, options),
    /** Attempts by hour, what waits, and how fast the receiver answers. */
    stats: (id: string, query?: ShowWebhookStatsQuery, options?: CallOptions) =>
      transport.call("GET /v1/webhook-endpoints/{id}/stats", { path: { id }, query: { ...query } }, options),
    /** How many events a replay from this sequence would send. */
    countReplay: (id: string, fromSequence: number, options?: CallOptions) =>
      transport.call(
        "GET /v1/webhook-endpoints/{id}/replay",
        { path: { id }, query: { from_sequence: fromSequence } },
        options,
      ),
    /** Sends a challenge at once and returns whether the receiver answered it. */
    verify: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/webhook-endpoints/{id}/verify", { path: { id } }, options),
  };
}
