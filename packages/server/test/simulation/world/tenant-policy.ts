import { defaultPolicy, type PolicyDocument, policyLimits } from "@bursar/domain";

/** A new tenant's policy, and payouts to any address; with a limit, if the run has one. */
export function policyOf(transactionsMax: number | undefined): PolicyDocument {
  const limit = {
    name: "limit",
    when: {
      count: { per: "tenant", period_seconds: policyLimits.periodSecondsMin, above: transactionsMax ?? 0 },
    },
    action: "reject",
    reason: "Too many.",
  } as const;
  const rules = [...(transactionsMax === undefined ? [] : [limit]), ...defaultPolicy.rules];
  return { ...defaultPolicy, rules, default: { action: "allow" } };
}
