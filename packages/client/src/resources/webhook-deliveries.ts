import type { ListWebhookDeliveriesQuery } from "../generated/operations.js";
import type { ReplayBody, ResendFailedBody } from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions, CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createWebhookDeliveries(transport: Transport) {
  return {
    get: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/webhook-deliveries/{id}", { path: { id } }, options),
    list: (query?: ListWebhookDeliveriesQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/webhook-deliveries", { query: { ...query, ...position } }, options),
      ),
    resend: (id: string, options?: CreateOptions) =>
      transport.call("POST /v1/webhook-deliveries/{id}/resend", { path: { id }, keyed: true }, options),
    resendFailed: (body: ResendFailedBody, options?: CreateOptions) =>
      transport.call("POST /v1/webhook-deliveries/resend-failed", { body, keyed: true }, options),
    /** Sends the events from a sequence on again, one page at a time. */
    replay: (body: ReplayBody, options?: CreateOptions) =>
      transport.call("POST /v1/webhook-deliveries/replay", { body, keyed: true }, options),
  };
}
