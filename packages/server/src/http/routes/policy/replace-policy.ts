import { Policy, PolicyDocument, policyDocumentBytesMax } from "@bursar/protocol";
import { Type } from "typebox";
import { presentPolicy } from "../../../app/policy/present-policy.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { expectedVersion, policyTag } from "../../entity-tags.js";
import { defineRoute } from "../../route.js";

export function replacePolicy({ replacePolicy: replace }: Pick<UseCases, "replacePolicy">) {
  return defineRoute(
    {
      method: "PUT",
      path: "/v1/policy",
      access: "policies:manage",
      operationId: "replacePolicy",
      tag: "Policy",
      summary: "Replace the policy",
      description:
        "The whole document, of at most 256 KiB and 2000 references: wallets, clients, group members and other items of lists. Takes effect everywhere within 5 seconds; every version is kept. All faults of a document are reported at once, each with its rule and its field.",
      body: PolicyDocument,
      // The domain checks everything that the schema does and more, and names the rules.
      checkedBody: Type.Unknown(),
      bodyBytesMax: policyDocumentBytesMax,
      ifMatch: "required",
      success: { status: 200, schema: Policy },
      errors: ["PRECONDITION_REQUIRED", "PRECONDITION_FAILED", "POLICY_INVALID"],
    },
    async (request, reply) => {
      const version = expectedVersion(request.headers["if-match"]);
      const policy = unwrap(await replace(originOf(request), version, request.body));
      reply.header("etag", policyTag(policy.version));
      return presentPolicy(policy);
    },
  );
}
