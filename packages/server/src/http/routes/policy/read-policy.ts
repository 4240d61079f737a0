import { Policy, PolicyQuery } from "@bursar/protocol";
import { presentPolicy } from "../../../app/policy/present-policy.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { namesTag, policyTag } from "../../entity-tags.js";
import { defineRoute } from "../../route.js";

export function readPolicy({ readPolicy: read }: Pick<UseCases, "readPolicy">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/policy",
      access: "policies:read",
      operationId: "readPolicy",
      tag: "Policy",
      summary: "Read the policy",
      description:
        "`ETag` is the quoted version, for the `If-Match` of a change. With `If-None-Match` the response is 304 if nothing has changed.",
      query: PolicyQuery,
      ifNoneMatch: true,
      success: { status: 200, schema: Policy, description: "The policy.", headers: ["ETag"] },
      errors: ["POLICY_VERSION_NOT_FOUND"],
    },
    async (request, reply) => {
      const { tenantId } = principalOf(request).principal;
      const policy = unwrap(await read(tenantId, request.query.version));
      const tag = policyTag(policy.version);
      reply.header("etag", tag);
      if (namesTag(request.headers["if-none-match"], tag)) return reply.code(304).send();
      return presentPolicy(policy);
    },
  );
}
