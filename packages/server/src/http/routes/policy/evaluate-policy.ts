import { EvaluatePolicyBody, PolicyEvaluation } from "@bursar/protocol";
import { Type } from "typebox";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { defineRoute } from "../../route.js";

export function evaluatePolicy({ evaluatePolicy: evaluate }: Pick<UseCases, "evaluatePolicy">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/policy/evaluate",
      access: "policies:manage",
      operationId: "evaluatePolicy",
      tag: "Policy",
      summary: "Say how policy would judge a transaction",
      description:
        "A dry run: nothing is created and nothing is counted. It names the rule that decides and the sums that were looked at, by the policy in force or by a `document` that is not.",
      body: EvaluatePolicyBody,
      // The document is checked by the domain, which names the rules of its faults.
      checkedBody: Type.Object(
        { ...EvaluatePolicyBody.properties, document: Type.Optional(Type.Unknown()) },
        { additionalProperties: false },
      ),
      // The largest policy, and a transaction besides.
      bodyBytesMax: 1_114_112,
      success: { status: 200, schema: PolicyEvaluation },
      errors: [
        "ASSET_UNKNOWN",
        "AMOUNT_PRECISION_EXCEEDED",
        "AMOUNT_OUT_OF_RANGE",
        "WALLET_UNKNOWN",
        "NETWORK_UNKNOWN",
        "CLIENT_UNKNOWN",
        "POLICY_INVALID",
      ],
    },
    async (request) => unwrap(await evaluate(principalOf(request).principal, request.body)),
  );
}
