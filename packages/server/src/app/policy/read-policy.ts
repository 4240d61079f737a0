import type { Refused } from "../requests/refused.js";
import { firstPolicy } from "./active-policies.js";
import type { PolicyStore, StoredPolicy } from "./policy.js";

export type ReadPolicy = (tenantId: string, version: number | undefined) => Promise<StoredPolicy | Refused>;

/** Reads the policy in force, or an earlier version. */
export function createPolicyReader(store: Pick<PolicyStore, "readPolicy">): ReadPolicy {
  return async (tenantId, version) => {
    if (version === firstPolicy.version) return firstPolicy;
    const stored = await store.readPolicy(tenantId, version);
    if (stored !== undefined) return stored;
    return version === undefined ? firstPolicy : { refused: "POLICY_VERSION_NOT_FOUND" };
  };
}
