import type { ListDestinationsQuery } from "../generated/operations.js";
import type { CreateDestinationBody } from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions, CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

/** The list of allowed destinations. Changes return a change request if they have to be approved first. */
export function createDestinations(transport: Transport) {
  return {
    create: (body: CreateDestinationBody, options?: CreateOptions) =>
      transport.call("POST /v1/destinations", { body, keyed: true }, options),
    get: (id: string, options?: CallOptions) =>
      transport.call("GET /v1/destinations/{id}", { path: { id } }, options),
    list: (query?: ListDestinationsQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/destinations", { query: { ...query, ...position } }, options),
      ),
    /** Returns undefined if it was removed at once. */
    remove: (id: string, options?: CallOptions) =>
      transport.call("DELETE /v1/destinations/{id}", { path: { id } }, options),
  };
}
