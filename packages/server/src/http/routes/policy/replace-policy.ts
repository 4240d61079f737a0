import { ChangeRequest, Policy, PolicyDocument, policyDocumentBytesMax } from "@bursar/protocol";
import { Type } from "typebox";
import { presentPolicy } from "../../../app/policy/present-policy.js";
import { itemsToReplacePolicy } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { originOf, unwrap } from "../../access/guard.js";
import { expectedVersion, policyTag } from "../../entity-tags.js";
import { defineRoute } from "../../route.js";
import { acceptChange } from "../change-requests/accept-change.js";

export function replacePolicy({ replacePolicy: replace }: Pick<UseCases, "replacePolicy">) {
  return defineRoute(
    {
      method: "PUT",
      path: "/v1/policy",
      access: "policies:manage",
      operationId: "replacePolicy",
      passkey: true,
      tag: "Policy",
      summary: "Replace the policy",
      description:
        "The whole document, of at most 256 KiB and 2000 references: wallets, clients, group members and other items of lists. Takes effect everywhere within 5 seconds; every version is kept. All faults of a document are reported at once, each with its rule and its field. If the policy in force has `changes`, a document that loosens it needs approval: the response is then 202 with a change request.",
      body: PolicyDocument,
      // The domain checks everything that the schema does and more, and names the rules.
      checkedBody: Type.Unknown(),
      bodyBytesMax: policyDocumentBytesMax,
      isAlwaysHeavy: true,
      itemsOf: itemsToReplacePolicy,
      ifMatch: "required",
      success: { status: 200, schema: Policy, description: "The new policy.", headers: ["ETag"] },
      orElse: {
        status: 202,
        schema: ChangeRequest,
        description: "The change waits for approval.",
        headers: ["Location"],
        examples: ["pending"],
      },
      errors: [
        "PRECONDITION_REQUIRED",
        "PRECONDITION_FAILED",
        "POLICY_INVALID",
        "LIMITS_NOT_READY",
        "CHANGE_REQUEST_LIMIT_REACHED",
      ],
    },
    async (request, reply) => {
      const version = expectedVersion(request.headers["if-match"]);
      const replaced = unwrap(await replace(originOf(request), version, request.body));
      if ("changeRequest" in replaced) return acceptChange(reply, replaced.changeRequest);
      const { policy } = replaced;
      reply.header("etag", policyTag(policy.version));
      return presentPolicy(policy);
    },
  );
}
