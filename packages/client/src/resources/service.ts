import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createService(transport: Transport) {
  return {
    /** Whether the process runs. */
    liveness: (options?: CallOptions) => transport.call("GET /healthz", { anonymous: true }, options),
    /** Whether it can serve requests; fails if it cannot. */
    readiness: (options?: CallOptions) => transport.call("GET /readyz", { anonymous: true }, options),
    /** Lets a page, which cannot send a token, open one stream. */
    streamTicket: (options?: CallOptions) =>
      transport.call("POST /v1/stream/tickets", { repeatable: true }, options),
  };
}
