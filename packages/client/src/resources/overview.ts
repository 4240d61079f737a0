import type { ShowOverviewQuery } from "../generated/operations.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createSearch(transport: Transport) {
  return {
    /** Finds objects by id, idempotency key, request id, address, or the beginning of a reference; at most 20. */
    find: (q: string, options?: CallOptions) => transport.call("GET /v1/search", { query: { q } }, options),
  };
}

export function createOverview(transport: Transport) {
  return {
    /** Counts and sums of transactions by state, asset and time. */
    show: (query?: ShowOverviewQuery, options?: CallOptions) =>
      transport.call("GET /v1/overview", { query: { ...query } }, options),
  };
}

export function createSystem(transport: Transport) {
  return {
    /** Versions, what waits of this tenant, markets, chains, connections and keys. */
    show: (options?: CallOptions) => transport.call("GET /v1/system", {}, options),
    /** What the service could not process. */
    listFailures: (options?: CallOptions) => transport.call("GET /v1/system/failures", {}, options),
    /** Makes something that has failed due at once. */
    retry: (id: string, options?: CallOptions) =>
      transport.call("POST /v1/system/failures/{id}/retry", { path: { id }, repeatable: true }, options),
  };
}
