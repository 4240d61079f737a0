import type { ListAuditQuery } from "../generated/operations.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createAudit(transport: Transport) {
  return {
    list: (query?: ListAuditQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/audit", { query: { ...query, ...position } }, options),
      ),
    /** The keys that sign the checkpoints of the log. */
    keys: (options?: CallOptions) =>
      transport.call("GET /.well-known/bursar-audit-keys.json", { anonymous: true }, options),
  };
}
