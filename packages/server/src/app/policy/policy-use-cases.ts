import type { EvaluatePolicy } from "./evaluate-policy.js";
import type { PolicyStore } from "./policy.js";
import type { ReadPolicy } from "./read-policy.js";
import type { ReplacePolicy } from "./replace-policy.js";

/** The use cases around a tenant's policy. */
export interface PolicyUseCases {
  readPolicy: ReadPolicy;
  replacePolicy: ReplacePolicy;
  listPolicyVersions: PolicyStore["listVersions"];
  evaluatePolicy: EvaluatePolicy;
  /** How many sums and counts the payments of a tenant are judged by; 0 as long as its policy is not in memory. */
  countLimits: (tenantId: string) => number;
}
