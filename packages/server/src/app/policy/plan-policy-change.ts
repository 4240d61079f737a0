import {
  type CompiledPolicy,
  keepsChanges,
  namedClients,
  type PolicyChanges,
  type PolicyDocument,
  type WindowKind,
} from "@bursar/domain";
import type { BoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import type { ChangeRequirement } from "../change-requests/change-request.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { compileGuard, firstPolicy, unionOfWindows } from "./active-policies.js";
import type { CheckDocument } from "./check-document.js";
import type { PolicyComparer } from "./compare-policies.js";
import { planGuards } from "./plan-guards.js";
import type { PolicyGuard, PolicyReads } from "./policy.js";
import type { PolicyCompiler } from "./policy-compiler.js";

export interface PlanPolicyChangeDeps {
  store: Pick<PolicyReads, "readPolicy" | "countChangeApprovers">;
  checkDocument: CheckDocument;
  compiler: PolicyCompiler;
  comparer: PolicyComparer;
  /** Plans one change of a tenant at a time, and few in all; absent in a SQL transaction, where waiting would hold its locks. */
  turns?: BoundedGate;
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
  /** The clients that the version in force names. */
  namedBefore: readonly string[];
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
  destinationTerms: (tenantId: string) => Promise<DestinationTerms>;
}

interface DestinationTerms {
  /** Who must approve changes of destinations; null if nobody. */
  changes: PolicyChanges | null;
  /** How long a new address waits, also if nobody must approve it: at least as long as what loosens the policy. */
  waitSeconds: number;
}

/** Decides who must approve a change of the policy or of destinations: always by the policy in force, never by the new one. */
export function createPolicyChangePlanner(deps: PlanPolicyChangeDeps): PolicyChangePlanner {
  const { compiler, turns } = deps;
  return {
    planReplacement: async (tenantId, replacement, now) => {
      if (turns === undefined) return await planReplacement(deps, tenantId, replacement, now);
      const plan = await turns.run(tenantId, () => planReplacement(deps, tenantId, replacement, now));
      return plan === "full" ? tooManyChanges : plan;
    },
    destinationTerms: async (tenantId) => {
      const { changes } = compiler.compileStored(await readCurrent(deps, tenantId));
      return {
        changes: changes?.coversDestinations === true ? changes : null,
        waitSeconds: waitSecondsOf(deps, changes),
      };
    },
  };
}

async function readCurrent({ store }: Pick<PlanPolicyChangeDeps, "store">, tenantId: string) {
  return (await store.readPolicy(tenantId)) ?? firstPolicy;
}

async function planReplacement(
  deps: PlanPolicyChangeDeps,
  tenantId: string,
  { by, expectedVersion, document, path }: Replacement,
  now: Date,
): Promise<PolicyPlan | Refused> {
  const { store, checkDocument, compiler, comparer } = deps;
  const checked = await checkDocument(tenantId, document, path);
  if (isRefused(checked)) return checked;
  const current = await readCurrent(deps, tenantId);
  if (current.version !== expectedVersion) return { refused: "PRECONDITION_FAILED" };
  const before = compiler.compileStored(current);
  const { changes } = before;
  const namedBefore = [...namedClients(current.document)];
  const unmet = by !== null && (await refuseUnmet(store, tenantId, by, changes, checked.policy, path));
  if (unmet) return unmet;
  const needsApproval =
    by !== null &&
    changes !== null &&
    (!keepsChanges(changes, checked.policy.changes) ||
      (changes.coversPolicy &&
        (dropsName(namedBefore, checked.document) || (await comparer.loosens(before, checked.policy)))));
  const waitSeconds = waitSecondsOf(deps, changes);
  // What was approved, or what the operator does, needs no guard, but does not end those that earlier versions started.
  const isTrusted = needsApproval || by === null;
  const replaced = isTrusted ? null : { version: current.version, policy: before, waitSeconds };
  const policyOf = createGuardReader(deps, tenantId, { version: current.version, policy: before });
  const { opens } = comparer;
  const guards = await planGuards({ policyOf, opens }, current.guards, replaced, checked.policy, now);
  return {
    document: checked.document,
    requirement: needsApproval ? requirementOf(changes) : null,
    guards,
    windows: await windowsOf(checked.policy, guards, policyOf),
    namedBefore,
  };
}

function waitSecondsOf(
  { destinationDelaySeconds }: Pick<PlanPolicyChangeDeps, "destinationDelaySeconds">,
  changes: PolicyChanges | null,
): number {
  return Math.max(destinationDelaySeconds, changes?.delaySeconds ?? 0);
}

/** Reads each guard once. The version in force becomes one itself, and is known. */
function createGuardReader(
  { store, compiler }: Pick<PlanPolicyChangeDeps, "store" | "compiler">,
  tenantId: string,
  inForce: { version: number; policy: CompiledPolicy },
) {
  const known = new Map<number | null, CompiledPolicy>([[inForce.version, inForce.policy]]);
  return async (guard: PolicyGuard): Promise<CompiledPolicy> => {
    const policy = known.get(guard.version) ?? (await compileGuard(store, compiler, tenantId, guard));
    known.set(guard.version, policy);
    return policy;
  };
}

/**
 * `changes` that nobody can meet would lock the tenant out, and `changes` that only clients of the caller's lineage can meet would put
 * the policy in its hands. The caller itself must therefore be able to get the approvals that its next change needs. It is not checked
 * again for `changes` that stay as they are, so that a policy can be tightened when an approver is missing.
 */
async function refuseUnmet(
  store: PlanPolicyChangeDeps["store"],
  tenantId: string,
  by: string,
  before: PolicyChanges | null,
  { changes }: CompiledPolicy,
  path: string,
): Promise<Refused | undefined> {
  if (changes === null || (before !== null && keepsChanges(before, changes))) return undefined;
  const { clientIds, approvals } = changes;
  const available = await store.countChangeApprovers(tenantId, by, clientIds, approvals);
  if (available >= approvals) return undefined;
  const reason = `is more than the ${available} approvals that a change requested by the caller could get now. Approvers must be enabled, protected, and independent of the caller and of each other`;
  return { refused: "POLICY_INVALID", details: [{ path: `${path}.changes.approvals`, reason }] };
}

async function windowsOf(
  policy: CompiledPolicy,
  guards: readonly PolicyGuard[],
  policyOf: (guard: PolicyGuard) => Promise<CompiledPolicy>,
): Promise<readonly WindowKind[]> {
  const all = [policy.windows];
  for (const guard of guards) all.push((await policyOf(guard)).windows);
  return unionOfWindows(...all);
}

const tooManyChanges: Refused = {
  refused: "CONCURRENCY_LIMITED",
  message: "Too many changes to the policy are in progress.",
  retryAfterSeconds: 1,
};

/** A client that is no longer named could lose its approvers or its protection unnoticed. */
function dropsName(before: readonly string[], after: PolicyDocument): boolean {
  const kept = namedClients(after);
  return before.some((id) => !kept.has(id));
}

export function requirementOf({ approvals, clientIds, delaySeconds }: PolicyChanges): Requirement {
  return { approvals, clientIds, delaySeconds };
}
