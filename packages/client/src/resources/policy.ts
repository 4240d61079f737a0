import type { ListPolicyVersionsQuery, ReadPolicyQuery } from "../generated/operations.js";
import type { EvaluatePolicyBody, PolicyDocument } from "../generated/schemas.js";
import { createCursorList } from "../lists/list.js";
import type { CallOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createPolicy(transport: Transport) {
  return {
    /** The policy; `lastResponse.etag` is what `replace` needs. */
    get: (query?: ReadPolicyQuery, options?: CallOptions) =>
      transport.call("GET /v1/policy", { query: query ?? {} }, options),
    /**
     * Replaces the policy that has this `etag`. Returns the new policy, or the change request that has to be approved first; `object` says
     * which.
     */
    replace: (document: PolicyDocument, etag: string, options?: CallOptions) =>
      transport.call("PUT /v1/policy", { body: document, headers: { "If-Match": etag } }, options),
    versions: (query?: ListPolicyVersionsQuery, options?: CallOptions) =>
      createCursorList((position) =>
        transport.call("GET /v1/policy/versions", { query: { ...query, ...position } }, options),
      ),
    /** What the policy would decide about a request; nothing is created. */
    evaluate: (body: EvaluatePolicyBody, options?: CallOptions) =>
      transport.call("POST /v1/policy/evaluate", { body, repeatable: true }, options),
  };
}
