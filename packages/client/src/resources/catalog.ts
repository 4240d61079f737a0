import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

/** What the service offers: assets and networks. */

export function createAssets(transport: Transport) {
  return {
    /** The assets with their decimals. */
    list: (options?: CallOptions) => transport.call("GET /v1/assets", {}, options),
  };
}

export function createNetworks(transport: Transport) {
  return {
    list: (options?: CallOptions) => transport.call("GET /v1/networks", {}, options),
  };
}
