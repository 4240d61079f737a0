import {
  type CompiledPolicy,
  keepsChanges,
  namedClients,
  type PolicyChanges,
  type PolicyDocument,
  type PolicyWorld,
  type WindowKind,
} from "@bursar/domain";
import type { KeyedMutex } from "../../runtime/keyed-mutex.js";
import type { ChangeRequirement } from "../change-requests/change-request.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { compileGuard, compileStored, firstPolicy, unionOfWindows } from "./active-policies.js";
import type { CheckDocument } from "./check-document.js";
import { loosens } from "./loosens.js";
import { planGuards } from "./plan-guards.js";
import type { PolicyGuard, PolicyReads } from "./policy.js";

export interface PlanPolicyChangeDeps {
  store: Pick<PolicyReads, "readPolicy" | "countChangeApprovers">;
  checkDocument: CheckDocument;
  world: PolicyWorld;
  /** Counts who could approve, one request of a tenant at a time; absent in a SQL transaction, where waiting would hold its locks. */
  countInTurn?: KeyedMutex;
  /** How long a new address of the allow-list waits. */
  destinationDelaySeconds: number;
}

type Requirement = Omit<ChangeRequirement, "expiresAfterSeconds">;

/** What a replacement of the policy needs before it takes effect. */
interface PolicyPlan {
  document: PolicyDocument;
  /** Null if it can take effect at once: it tightens, the policy names nobody, or the operator makes it. */
  requirement: Requirement | null;
  guards: readonly PolicyGuard[];
  /** What it and its guards sum over. */
  windows: readonly WindowKind[];
}

interface Replacement {
  /** The client that replaces the policy; null for the operator. */
  by: string | null;
  expectedVersion: number;
  document: unknown;
  /** The location of the document in the request. */
  path: string;
}

export interface PolicyChangePlanner {
  planReplacement: (tenantId: string, replacement: Replacement, now: Date) => Promise<PolicyPlan | Refused>;
  /** Who must approve changes of destinations; null if nobody. */
  destinationChanges: (tenantId: string) => Promise<PolicyChanges | null>;
}

/** Decides who must approve a change of the policy or of destinations: always by the policy in force, never by the new one. */
export function createPolicyChangePlanner(deps: PlanPolicyChangeDeps): PolicyChangePlanner {
  const { store, checkDocument, world, destinationDelaySeconds } = deps;
  const read = async (tenantId: string) => (await store.readPolicy(tenantId)) ?? firstPolicy;
  return {
    planReplacement: async (tenantId, { by, expectedVersion, document, path }, now) => {
      const checked = await checkDocument(tenantId, document, path);
      if (isRefused(checked)) return checked;
      const current = await read(tenantId);
      if (current.version !== expectedVersion) return { refused: "PRECONDITION_FAILED" };
      const before = compileStored(current, world);
      const { changes } = before;
      const unmet = by !== null && (await refuseUnmet(deps, tenantId, by, changes, checked.policy, path));
      if (unmet) return unmet;
      const needsApproval =
        by !== null &&
        changes !== null &&
        (!keepsChanges(changes, checked.policy.changes) ||
          (changes.coversPolicy &&
            (dropsName(current.document, checked.document) || (await loosens(before, checked.policy)))));
      const waitSeconds = Math.max(destinationDelaySeconds, changes?.delaySeconds ?? 0);
      // What was approved, or what the operator does, needs no guard, but does not end those that earlier versions started.
      const isTrusted = needsApproval || by === null;
      const replaced = isTrusted ? null : { version: current.version, policy: before, waitSeconds };
      const guards = await planGuards(
        { store, world, tenantId },
        current.guards,
        replaced,
        checked.policy,
        now,
      );
      return {
        document: checked.document,
        requirement: needsApproval ? requirementOf(changes) : null,
        guards,
        windows: await windowsOf(deps, tenantId, checked.policy, guards),
      };
    },
    destinationChanges: async (tenantId) => {
      const { changes } = compileStored(await read(tenantId), world);
      return changes?.coversDestinations === true ? changes : null;
    },
  };
}

/**
 * `changes` that nobody can meet would lock the tenant out, and `changes` that only clients of the caller's lineage can meet would put
 * the policy in its hands. The caller itself must therefore be able to get the approvals that its next change needs. It is not checked
 * again for `changes` that stay as they are, so that a policy can be tightened when an approver is missing.
 */
async function refuseUnmet(
  { store, countInTurn = (_tenantId, count) => count() }: Pick<PlanPolicyChangeDeps, "store" | "countInTurn">,
  tenantId: string,
  by: string,
  before: PolicyChanges | null,
  { changes }: CompiledPolicy,
  path: string,
): Promise<Refused | undefined> {
  if (changes === null || (before !== null && keepsChanges(before, changes))) return undefined;
  const { clientIds, approvals } = changes;
  const counting = countInTurn(tenantId, () =>
    store.countChangeApprovers(tenantId, by, clientIds, approvals),
  );
  if (counting === undefined) return tooManyChanges;
  const available = await counting;
  if (available >= approvals) return undefined;
  const reason = `is more than the ${available} approvals that a change requested by the caller could get now. Approvers must be enabled, protected, and independent of the caller and of each other`;
  return { refused: "POLICY_INVALID", details: [{ path: `${path}.changes.approvals`, reason }] };
}

async function windowsOf(
  { store, world }: Pick<PlanPolicyChangeDeps, "store" | "world">,
  tenantId: string,
  policy: CompiledPolicy,
  guards: readonly PolicyGuard[],
): Promise<readonly WindowKind[]> {
  const all = [policy.windows];
  for (const guard of guards) all.push((await compileGuard(store, world, tenantId, guard)).windows);
  return unionOfWindows(...all);
}

const tooManyChanges: Refused = {
  refused: "CONCURRENCY_LIMITED",
  message: "Too many changes to the policy are in progress.",
  retryAfterSeconds: 1,
};

/** A client that is no longer named could lose its approvers or its protection unnoticed. */
function dropsName(before: PolicyDocument, after: PolicyDocument): boolean {
  const kept = namedClients(after);
  return [...namedClients(before)].some((id) => !kept.has(id));
}

export function requirementOf({ approvals, clientIds, delaySeconds }: PolicyChanges): Requirement {
  return { approvals, clientIds, delaySeconds };
}
