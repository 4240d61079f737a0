import {
  keepsChanges,
  namedClients,
  type PolicyChanges,
  type PolicyDocument,
  type PolicyWorld,
} from "@bursar/domain";
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
  const { store, checkDocument, world, destinationDelaySeconds } = deps;
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
      const needsApproval =
        changes !== null &&
        (!keepsChanges(changes, checked.policy.changes) ||
          (changes.coversPolicy &&
            (dropsName(current.document, checked.document) || (await loosens(before, checked.policy)))));
      const requirement = needsApproval ? requirementOf(changes) : null;
      // What was approved needs no guard, but does not end the one that an earlier version started.
      const waitSeconds = needsApproval ? 0 : Math.max(destinationDelaySeconds, changes?.delaySeconds ?? 0);
      const until = latest(secondsAfter(now, waitSeconds), current.guard?.until ?? now);
      if (until <= now) return { document: checked.document, requirement, guard: null };
      const base = isGuarded(current, now) ? await read(tenantId, current.guard.version) : current;
      const opens = await loosens({ ...compileStored(base, world), changes: null }, checked.policy, unlisted);
      return {
        document: checked.document,
        requirement,
        guard: opens ? { version: base.version, until } : null,
      };
    },
    destinationChanges: async (tenantId) => {
      const { changes } = compileStored(await read(tenantId), world);
      return changes?.coversDestinations === true ? changes : null;
    },
  };
}

const unlisted = { destinations: new Set(["address"] as const) };

/** A client that is no longer named could lose its approvers or its protection unnoticed. */
function dropsName(before: PolicyDocument, after: PolicyDocument): boolean {
  const kept = namedClients(after);
  return [...namedClients(before)].some((id) => !kept.has(id));
}

function secondsAfter(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

function latest(one: Date, other: Date): Date {
  return one > other ? one : other;
}

function isGuarded(policy: StoredPolicy, now: Date): policy is StoredPolicy & { guard: PolicyGuard } {
  return policy.guard !== null && now < policy.guard.until;
}

export function requirementOf({ approvals, clientIds, delaySeconds }: PolicyChanges): Requirement {
  return { approvals, clientIds, delaySeconds };
}
