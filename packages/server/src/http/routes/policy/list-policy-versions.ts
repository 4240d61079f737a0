import { PolicyVersionPage, PolicyVersionQuery } from "@bursar/protocol";
import { presentPolicyVersion } from "../../../app/policy/present-policy.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf } from "../../access/guard.js";
import { readCursor, toPage } from "../../cursor.js";
import { defineRoute } from "../../route.js";

export function listPolicyVersions({ listPolicyVersions: list }: Pick<UseCases, "listPolicyVersions">) {
  return defineRoute(
    {
      method: "GET",
      path: "/v1/policy/versions",
      access: "policies:read",
      operationId: "listPolicyVersions",
      tag: "Policy",
      summary: "List the versions of the policy",
      description:
        "Newest first, with the author of each; `GET /v1/policy?version=` reads one. Version 0, which every tenant starts with, has no author and is not listed.",
      query: PolicyVersionQuery,
      success: { status: 200, schema: PolicyVersionPage, description: "A page of versions." },
      errors: [],
    },
    async (request) => {
      const { limit = 50, cursor } = request.query;
      const place = readCursor("policy_versions", cursor);
      const { tenantId } = principalOf(request).principal;
      const versions = await list(tenantId, limit + 1, place === undefined ? undefined : Number(place));
      return toPage(
        "policy_versions",
        versions,
        limit,
        ({ version }) => String(version),
        presentPolicyVersion,
      );
    },
  );
}
