import type { ListChangeRequestsQuery } from "../generated/operations.js";
import type { CreateChangeRequestBody, DecideChangeBody } from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions, CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createChangeRequests(transport: Transport) {
  return {
    create: (body: CreateChangeRequestBody, options?: CreateOptions) =>
      transport.call("POST /v1/change-requests", { body, keyed: true }, options),
    get: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/change-requests/{id}", { path: { id } }, options),
    list: (query?: ListChangeRequestsQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/change-requests", { query: { ...query, ...position } }, options),
      ),
    decisions: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/change-requests/{id}/decisions", { path: { id } }, options),
    approve: (id: string, body: DecideChangeBody, options?: CallOptions) =>
      transport.call(
        "POST /v1/change-requests/{id}/approve",
        { path: { id }, body, repeatable: true },
        options,
      ),
    reject: (id: string, body: DecideChangeBody, options?: CallOptions) =>
      transport.call(
        "POST /v1/change-requests/{id}/reject",
        { path: { id }, body, repeatable: true },
        options,
      ),
    cancel: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/change-requests/{id}/cancel", { path: { id }, repeatable: true }, options),
  };
}
