import { EvaluatePolicyBody, PolicyEvaluation, policyDocumentBytesMax } from "@bursar/protocol";
import { Type } from "typebox";
import { itemsOfHistory, itemsToEvaluatePolicy } from "../../../app/quotas/take-quota.js";
import type { UseCases } from "../../../app/use-cases.js";
import { principalOf, unwrap } from "../../access/guard.js";
import { defineRoute } from "../../route.js";

export function evaluatePolicy({ evaluatePolicy: evaluate }: Pick<UseCases, "evaluatePolicy">) {
  return defineRoute(
    {
      method: "POST",
      path: "/v1/policy/evaluate",
      access: "policies:read",
      operationId: "evaluatePolicy",
      tag: "Policy",
      summary: "Evaluate the policy for a transaction",
      description:
        "A dry run: nothing is created or counted. The response names the deciding rule and the sums considered, using the policy in force or a given `document`. A rule with a sum or a count reveals what the tenant has paid, so evaluating one also needs the scope `transactions:read`.",
      body: EvaluatePolicyBody,
      // The domain validates the document, and names the rule of each fault.
      checkedBody: Type.Object(
        { ...EvaluatePolicyBody.properties, document: Type.Optional(Type.Unknown()) },
        { additionalProperties: false },
      ),
      // The largest policy, plus a transaction.
      bodyBytesMax: policyDocumentBytesMax + 16_384,
      itemsOf: (body) => itemsToEvaluatePolicy((body as { document?: unknown }).document),
      success: { status: 200, schema: PolicyEvaluation, description: "What policy would decide, and why." },
      errors: [
        "ASSET_UNKNOWN",
        "AMOUNT_PRECISION_EXCEEDED",
        "AMOUNT_OUT_OF_RANGE",
        "WALLET_UNKNOWN",
        "WALLET_CREATING",
        "ADDRESS_INVALID",
        "NETWORK_MISMATCH",
        "NETWORK_UNKNOWN",
        "MARKET_UNKNOWN",
        "PRICE_NOT_IN_TICKS",
        "SIZE_NOT_IN_LOTS",
        "CLIENT_UNKNOWN",
        "POLICY_INVALID",
        "LIMITS_NOT_READY",
      ],
    },
    async (request) => {
      const onHistoryRead = (events: number, limits: number) => {
        request.itemsFound += itemsOfHistory(events, limits);
      };
      return unwrap(await evaluate(principalOf(request).principal, request.body, onHistoryRead));
    },
  );
}
