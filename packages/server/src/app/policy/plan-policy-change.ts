import type { PolicyChanges, PolicyDocument, PolicyWorld } from "@bursar/domain";
import type { ChangeRequirement } from "../change-requests/change-request.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { compileStored, firstPolicy } from "./active-policies.js";
import type { CheckDocument } from "./check-document.js";
import { loosens } from "./loosens.js";
import type { PolicyGuard, PolicyStore, StoredPolicy } from "./policy.js";

export interface PlanPolicyChangeDeps {
  store: Pick<PolicyStore, "readPolicy">;
  checkDocument: CheckDocument;
  world: PolicyWorld;
  /** How long a new address of the allow-list waits. */
  destinationDelaySeconds: number;
}

type Requirement = Omit<ChangeRequirement, "expiresAfterSeconds">;

/** What a replacement of the policy needs before it takes effect. */
interface PolicyPlan {
  document: PolicyDocument;
  /** Null if it can take effect at once: it tightens, or the policy names nobody. */
  requirement: Requirement | null;
  guard: PolicyGuard | null;
}

export interface PolicyChangePlanner {
  /** `path` is the location of the document in the request. */
  planReplacement: (
    tenantId: string,
    replacement: { expectedVersion: number; document: unknown; path: string },
    now: Date,
  ) => Promise<PolicyPlan | Refused>;
  /** Who must approve changes of destinations; null if nobody. */
  destinationChanges: (tenantId: string) => Promise<PolicyChanges | null>;
}

/** Decides who must approve a change of the policy or of destinations: always by the policy in force, never by the new one. */
export function createPolicyChangePlanner(deps: PlanPolicyChangeDeps): PolicyChangePlanner {
  const { store, checkDocument, world } = deps;
  const read = async (tenantId: string, version?: number) =>
    (await store.readPolicy(tenantId, version)) ?? firstPolicy;
  return {
    planReplacement: async (tenantId, { expectedVersion, document, path }, now) => {
      const checked = await checkDocument(tenantId, document, path);
      if (isRefused(checked)) return checked;
      const current = await read(tenantId);
      if (current.version !== expectedVersion) return { refused: "PRECONDITION_FAILED" };
      const before = compileStored(current, world);
      const { changes } = before;
      if (changes?.coversPolicy === true && (await loosens(before, checked.policy)))
        return { document: checked.document, requirement: requirementOf(changes), guard: null };
      const base = isGuarded(current, now) ? await read(tenantId, current.guard.version) : current;
      const opens = await loosens(compileStored(base, world), checked.policy, unlisted);
      const until = new Date(now.getTime() + deps.destinationDelaySeconds * 1000);
      const guard = opens && until > now ? { version: base.version, until } : null;
      return { document: checked.document, requirement: null, guard };
    },
    destinationChanges: async (tenantId) => {
      const { changes } = compileStored(await read(tenantId), world);
      return changes?.coversDestinations === true ? changes : null;
    },
  };
}

const unlisted = { destinations: new Set(["address"] as const) };

function isGuarded(policy: StoredPolicy, now: Date): policy is StoredPolicy & { guard: PolicyGuard } {
  return policy.guard !== null && now < policy.guard.until;
}

export function requirementOf({ approvals, clientIds, delaySeconds }: PolicyChanges): Requirement {
  return { approvals, clientIds, delaySeconds };
}
