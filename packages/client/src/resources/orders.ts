import type { ListOrdersQuery } from "../generated/operations.js";
import type { AmendOrderBody, PlaceOrderBody } from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions, CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createOrders(transport: Transport) {
  return {
    place: (body: PlaceOrderBody, options?: CreateOptions) =>
      transport.call("POST /v1/orders", { body, keyed: true }, options),
    get: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/orders/{id}", { path: { id } }, options),
    list: (query?: ListOrdersQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/orders", { query: { ...query, ...position } }, options),
      ),
    amend: (id: string, body: AmendOrderBody, options?: CallOptions) =>
      transport.call("PATCH /v1/orders/{id}", { path: { id }, body }, options),
    cancel: (id: string, options?: CallOptions) =>
      transport.call("DELETE /v1/orders/{id}", { path: { id } }, options),
    states: (options?: CallOptions) => transport.call("GET /v1/order-states", {}, options),
  };
}
