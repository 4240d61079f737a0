import { type ChangeKind, type ChangeOf, readId, type Scope, showId } from "@bursar/protocol";
import { describeLateAct } from "../audit/audit-entry.js";
import { type Destination, type DestinationStore, readAddress } from "../destinations/destination.js";
import type { AllowList } from "../policy/allow-list.js";
import { type PolicyChangePlanner, requirementOf } from "../policy/plan-policy-change.js";
import type { PolicyReads } from "../policy/policy.js";
import type { PrepareLimits } from "../policy/prepare-limits.js";
import type { Rails } from "../rails/rail.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { type ChangeExecutor, refuseWithoutScope } from "./change-executor.js";
import type { ChangeRequest, ChangeRequirement } from "./change-request.js";

type PolicyKind = Exclude<ChangeKind, `client.${string}` | `person.${string}`>;

export interface PolicyExecutorDeps {
  /** Plans a change from what the pool reads, or in `apply` from what the unit reads in its SQL transaction. */
  planner: PolicyChangePlanner;
  plannerOf: (reads: PolicyReads) => PolicyChangePlanner;
  prepareLimits: PrepareLimits;
  rails: Pick<Rails, "find">;
  destinations: Pick<DestinationStore, "readDestination"> & AllowList;
  /** Called after a new policy was put in force. */
  onReplaced: (tenantId: string) => void;
  newUuid: () => string;
  now: () => number;
}

/** When every address of the list is active. */
const endOfTime = new Date(8.64e15);

/** Nobody has to approve: the change is applied at once, as if it had been made directly. */
const atOnce = { approvals: 0, clientIds: null, delaySeconds: 0 } as const;

/**
 * Changes of the policy and of destinations. The policy in force says who must approve. It is asked again when the change is applied,
 * because it can have been tightened since.
 */
export function createPolicyExecutors(deps: PolicyExecutorDeps): {
  [Kind in PolicyKind]: ChangeExecutor<Kind>;
} {
  return {
    "policy.replace": policyExecutor(deps),
    "destination.create": createExecutor(deps),
    "destination.remove": removeExecutor(deps),
  };
}

function policyExecutor({
  planner,
  plannerOf,
  prepareLimits,
  onReplaced,
  now,
}: PolicyExecutorDeps): ChangeExecutor<"policy.replace"> {
  const plan = (
    using: PolicyChangePlanner,
    { tenantId, clientId: by }: { tenantId: string; clientId: string },
    { expected_version, document }: ChangeOf<"policy.replace">,
    at: Date,
  ) =>
    using.planReplacement(
      tenantId,
      { by, expectedVersion: expected_version, document, path: "body.change.document" },
      at,
    );
  return {
    check: async (origin, change) => {
      const planned =
        refuseWithoutScope(origin, "policies:manage") ??
        (await plan(planner, origin.principal, change, new Date(now())));
      if (isRefused(planned)) return planned;
      return { target: "policy", requirement: planned.requirement ?? atOnce };
    },
    prepare: async ({ tenantId, requestedBy, change }) => {
      const planned = await plan(planner, { tenantId, clientId: requestedBy }, change, new Date(now()));
      // `apply` decides what becomes of one that is refused.
      return isRefused(planned)
        ? undefined
        : await prepareLimits(tenantId, change.expected_version, planned.windows);
    },
    apply: async (unit, request, requester, at) => {
      const { tenantId, requestedBy, change } = request;
      const planned =
        refuseUnscoped(requester, "policies:manage") ??
        (await plan(plannerOf(unit), { tenantId, clientId: requestedBy }, change, at));
      if (isRefused(planned)) return planned;
      if (!isMet(request, planned.requirement ?? atOnce)) return { refused: "CHANGE_REQUEST_STALE" };
      const { document, guards, windows, namedBefore } = planned;
      const version = change.expected_version + 1;
      const written = await unit.writePolicy(
        tenantId,
        change.expected_version,
        { document, clientId: requestedBy, createdAt: at, guards, windows, namedBefore },
        describeLateAct(request, "policy.replace", `policy/${version}`, at),
      );
      return written === undefined ? { refused: "PRECONDITION_FAILED" } : undefined;
    },
    onApplied: ({ tenantId }) => onReplaced(tenantId),
  };
}

/** An approved address waits as long as any other, or as long as other changes do if that is longer. */
function createExecutor(deps: PolicyExecutorDeps): ChangeExecutor<"destination.create"> {
  return {
    check: async (origin, change) => {
      const read =
        refuseWithoutScope(origin, "destinations:manage") ?? readAddress(deps.rails, change, "body.change");
      if (isRefused(read)) return read;
      const { tenantId } = origin.principal;
      if (await deps.destinations.isListed(tenantId, read.network, read.address, endOfTime))
        return { refused: "DESTINATION_EXISTS" };
      const requirement = await destinationRequirement(deps.planner, tenantId);
      return { target: `${read.network}/${read.address}`, requirement };
    },
    apply: async (unit, request, requester, at) => {
      const { tenantId, requestedBy, change } = request;
      const planner = deps.plannerOf(unit);
      const refused = await refuseDestinationChange(planner, request, requester);
      const read = refused ?? readAddress(deps.rails, change, "body.change");
      if (isRefused(read)) return read;
      const { waitSeconds } = await planner.destinationTerms(tenantId);
      const destination: Destination = {
        tenantId,
        id: deps.newUuid(),
        label: change.label,
        ...read,
        note: change.note ?? null,
        clientId: requestedBy,
        createdAt: at,
        effectiveAt: new Date(at.getTime() + waitSeconds * 1000),
      };
      const audit = describeLateAct(request, "destination.create", showId("dst", destination.id), at);
      return (await unit.addDestination(destination, audit)) ? undefined : { refused: "DESTINATION_EXISTS" };
    },
  };
}

function removeExecutor(deps: PolicyExecutorDeps): ChangeExecutor<"destination.remove"> {
  return {
    check: async (origin, { destination_id }) => {
      const refused = refuseWithoutScope(origin, "destinations:manage");
      if (refused !== undefined) return refused;
      const { tenantId } = origin.principal;
      const id = readId("dst", destination_id);
      const destination =
        id === undefined ? undefined : await deps.destinations.readDestination(tenantId, id);
      if (destination === undefined) return { refused: "DESTINATION_NOT_FOUND" };
      const requirement = await destinationRequirement(deps.planner, tenantId);
      // An approver can judge an address, and not an id. An entry never changes, and the request says what it was after it is removed.
      const { label, network, address } = destination;
      return { target: destination_id, change: { destination_id, label, network, address }, requirement };
    },
    apply: async (unit, request, requester, at) => {
      const refused = await refuseDestinationChange(deps.plannerOf(unit), request, requester);
      if (refused !== undefined) return refused;
      const { tenantId, change } = request;
      const audit = describeLateAct(request, "destination.remove", change.destination_id, at);
      const removed = await unit.removeDestination(
        tenantId,
        readId("dst", change.destination_id) ?? "",
        audit,
      );
      return removed ? undefined : { refused: "DESTINATION_NOT_FOUND" };
    },
  };
}

/** The delay is for changes of the policy: a new address has a waiting time of its own. */
async function destinationRequirement(planner: PolicyChangePlanner, tenantId: string) {
  const { changes } = await planner.destinationTerms(tenantId);
  return changes === null ? atOnce : { ...requirementOf(changes), delaySeconds: 0 };
}

async function refuseDestinationChange(
  planner: PolicyChangePlanner,
  request: ChangeRequest,
  requester: { scopes: readonly string[] },
): Promise<Refused | undefined> {
  const refused = refuseUnscoped(requester, "destinations:manage");
  if (refused !== undefined) return refused;
  const requirement = await destinationRequirement(planner, request.tenantId);
  return isMet(request, requirement) ? undefined : { refused: "CHANGE_REQUEST_STALE" };
}

/** Whether what a request was held to is what the policy asks for now. */
function isMet({ requirement }: ChangeRequest, now: Omit<ChangeRequirement, "expiresAfterSeconds">): boolean {
  const { approvals, clientIds, delaySeconds } = requirement;
  return (
    approvals === now.approvals &&
    delaySeconds === now.delaySeconds &&
    JSON.stringify(clientIds) === JSON.stringify(now.clientIds)
  );
}

function refuseUnscoped({ scopes }: { scopes: readonly string[] }, scope: Scope): Refused | undefined {
  return scopes.includes(scope) ? undefined : { refused: "INSUFFICIENT_SCOPE" };
}
