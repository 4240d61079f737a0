import { compilePolicy, defaultPolicy, type PolicyDocument, type PolicyWorld } from "@bursar/domain";
import { createFreshCache } from "../../runtime/fresh-cache.js";
import type { WakeUps } from "../../runtime/wake-ups.js";
import type { ActivePolicies, ActivePolicy, PolicyStore, StoredPolicy } from "./policy.js";

export interface ActivePoliciesDeps {
  store: Pick<PolicyStore, "readPolicy">;
  world: PolicyWorld;
  wakeUps: Pick<WakeUps, "subscribe">;
  /** A monotonic clock. */
  monotonicMs: () => number;
}

/** The policy of a tenant that has not stored one. */
export const firstPolicy: StoredPolicy = { version: 0, document: defaultPolicy, updatedAt: null };

export function createActivePolicies({
  store,
  world,
  wakeUps,
  monotonicMs,
}: ActivePoliciesDeps): ActivePolicies {
  const cache = createFreshCache<ActivePolicy>(
    async (tenantId) => activate((await store.readPolicy(tenantId)) ?? firstPolicy, world),
    monotonicMs,
  );
  wakeUps.subscribe("policy", (tenantIds) => {
    if (tenantIds !== "any") for (const tenantId of tenantIds) cache.forget(tenantId);
  });
  return cache;
}

function activate({ version, document }: StoredPolicy, world: PolicyWorld): ActivePolicy {
  const { policy } = compilePolicy(document, world);
  if (policy !== undefined) return { version, policy };
  return { version, policy: compilePolicy(closedPolicy, world).policy as ActivePolicy["policy"] };
}

/** A document was valid when it was stored, but names an asset or a network that is no longer configured. */
const closedPolicy: PolicyDocument = {
  rules: [],
  default: {
    action: "reject",
    reason:
      "The policy names an asset or a network that is no longer configured. Replace the policy, or restore the configuration.",
  },
};
