import { chooseIndependent } from "../../access/choose-independent.js";
import { addKeys, type HeldKey, shareKey } from "../../access/held-keys.js";
import { areIndependent, type Lineage } from "../../access/lineage.js";

/**
 * The approvals that policy requires for a transaction. They are fixed when the transaction is judged and are stored with it as JSON. A
 * policy that is put in force later can add to them (`judgeWaiting`), but takes nothing from them.
 */
export interface ApprovalRequirement {
  approvals: number;
  /** The UUIDs of the clients that may approve; null means any client of the tenant with the scope. */
  clientIds: readonly string[] | null;
  expiresAfterSeconds: number;
  /** Whether an approval must carry a signature that can be verified later; absent in requirements stored before there was a choice. */
  signed?: boolean;
  /** Whether only people approve; absent if programs may too. */
  people?: boolean;
}

/** The client that asks for approval, and when it asked. */
export interface Initiator {
  initiatorId: string;
  lineage: Lineage;
  /** When it requested what is to be approved. */
  requestedAtMs: number;
  /** When the approvals were asked for: a transaction is judged after it was requested. */
  askedAtMs: number;
  /** When the operator last made it independent; its lineage before that is not known any more. */
  resetAtMs: number | null;
  /** Whether its tenant has one administrator, so that lineages are not compared. */
  isSingleAdministrator: boolean;
  /** The public keys that it has or had. */
  publicKeys?: readonly HeldKey[];
  /** Those of the other clients in its lineage. */
  lineageKeys?: readonly HeldKey[];
}

/** The decision of one client, and whether the client may still approve. */
export interface Approval {
  clientId: string;
  decision: "approve" | "reject";
  atMs: number;
  /** Why it counts for nobody now, whatever was so when it decided; null if nothing is wrong with it. */
  standingFault: StandingFault | null;
  lineage: Lineage;
  /** When its credentials, scopes, state or `require_signature` were last changed. */
  authorityChangedAtMs: number;
  /** Whether a signature with an Ed25519 key is stored with it. */
  isSigned?: boolean;
  /** Whether the client is a person, as whom no program could act. */
  isPerson?: boolean;
  /** The public keys that the client has or had, and that of the stored signature. */
  publicKeys?: readonly HeldKey[];
  /** Those of the other clients in its lineage. */
  lineageKeys?: readonly HeldKey[];
}

/** The service has not recorded the decision for what is asked, or its client is disabled or has lost the scope. */
export type StandingFault = "not_recorded" | "client_disabled" | "scope_missing";

/** Why a decision does not count. */
export type ApprovalFault = (typeof approvalFaults)[number];

export const approvalFaults = [
  "too_late",
  "not_an_approver",
  "not_recorded",
  "client_disabled",
  "scope_missing",
  "not_signed",
  "not_a_person",
  "changed_since",
  "shared_key",
  "initiator_reset",
  "shared_lineage",
  "counted_with_another",
] as const;

export interface ApprovalTally {
  state: "pending" | "approved" | "rejected" | "expired";
  approved: number;
  missing: number;
  /** For each decision, in the order given, why it does not count; null if it counts. */
  faults: readonly (ApprovalFault | null)[];
  deadlineMs: number;
}

/** What satisfies both requirements. */
export function bothRequirements(one: ApprovalRequirement, other: ApprovalRequirement): ApprovalRequirement {
  const { clientIds } = other;
  return {
    approvals: Math.max(one.approvals, other.approvals),
    clientIds:
      clientIds === null
        ? one.clientIds
        : (one.clientIds ?? clientIds).filter((id) => clientIds.includes(id)),
    expiresAfterSeconds: Math.min(one.expiresAfterSeconds, other.expiresAfterSeconds),
    ...(one.signed === true || other.signed === true ? { signed: true } : {}),
    ...(one.people === true || other.people === true ? { people: true } : {}),
  };
}

/** Whether a client may approve a transaction of this initiator. Its scope is checked together with its token. */
export function mayApprove(
  { clientIds }: Pick<ApprovalRequirement, "clientIds">,
  initiatorId: string,
  clientId: string,
): boolean {
  return clientId !== initiatorId && (clientIds === null || clientIds.includes(clientId));
}

/** The approvals that are recorded for one transaction or change request. Policies require at most ten. */
export const recordedApprovalsMax = 50;

/**
 * For so long after a reset or a stop of a client, what it requests can come from before: processes accept its former credentials until they
 * notice, within 5 s. The rest is for queues and clocks. A client that had those could otherwise approve its own request.
 */
export const staleTokensMs = 10_000;

export type IndependenceFault = "changed_since" | "initiator_reset" | "shared_key" | "shared_lineage";

/**
 * Why a client's approval does not count, although the client may approve. A client whose authority was changed after the request can have
 * been taken over for it, and who has the private key of both decides alone, also with a single administrator. A key that one of them has
 * removed since the request counts: it can have been removed for that.
 */
export function findIndependenceFault(
  initiator: Initiator,
  approver: KeyHolder & Pick<Approval, "authorityChangedAtMs">,
): IndependenceFault | undefined {
  if (approver.authorityChangedAtMs >= initiator.requestedAtMs) return "changed_since";
  const sinceMs = keysCountSince(initiator);
  if (shareKey(initiator.publicKeys ?? [], approver.publicKeys ?? [], sinceMs)) return "shared_key";
  if (initiator.isSingleAdministrator) return undefined;
  if (initiator.resetAtMs !== null && initiator.resetAtMs + staleTokensMs >= initiator.requestedAtMs)
    return "initiator_reset";
  if (!areIndependent(initiator.lineage, approver.lineage)) return "shared_lineage";
  // A client that has created another one can have kept its secret.
  return shareKey(allKeys(initiator), allKeys(approver), sinceMs) ? "shared_key" : undefined;
}

type KeyHolder = Pick<Approval, "lineage" | "publicKeys" | "lineageKeys">;

function allKeys({ publicKeys = [], lineageKeys = [] }: KeyHolder): readonly HeldKey[] {
  return lineageKeys.length === 0 ? publicKeys : [...publicKeys, ...lineageKeys];
}

/** A token that was issued with a key before it was removed is accepted for a while. */
function keysCountSince({ requestedAtMs }: Pick<Initiator, "requestedAtMs">): number {
  return requestedAtMs - staleTokensMs;
}

/**
 * Tallies the decisions that were made before the deadline by clients that may approve. One rejection is final even if its client has been
 * disabled since, because stopping is always safe. An approval counts only while its client is enabled, unchanged since the request, and
 * independent of the initiator, and signed or of a person if it must be; clients that are not independent of each other count once, as do
 * those that have a key in common.
 */
export function tallyApprovals(
  requirement: ApprovalRequirement,
  initiator: Initiator,
  approvals: readonly Approval[],
  nowMs: number,
): ApprovalTally {
  const deadlineMs = initiator.askedAtMs + requirement.expiresAfterSeconds * 1000;
  const own = approvals.map((one) => findFault(requirement, initiator, one, deadlineMs));
  const counted = chooseCounted(
    approvals.filter(({ decision }, index) => decision === "approve" && own[index] === null),
    initiator,
  );
  const faults = approvals.map((one, index) => {
    const isExtra = one.decision === "approve" && !counted.has(one);
    return own[index] ?? (isExtra ? "counted_with_another" : null);
  });
  const missing = Math.max(0, requirement.approvals - counted.size);
  const state = () => {
    if (approvals.some(({ decision }, index) => decision === "reject" && faults[index] === null))
      return "rejected";
    if (missing === 0) return "approved";
    return nowMs < deadlineMs ? "pending" : "expired";
  };
  return { state: state(), approved: counted.size, missing, deadlineMs, faults };
}

/** Why a decision does not count, whatever others have decided. */
function findFault(
  requirement: ApprovalRequirement,
  initiator: Initiator,
  one: Approval,
  deadlineMs: number,
): ApprovalFault | null {
  if (!mayApprove(requirement, initiator.initiatorId, one.clientId)) return "not_an_approver";
  if (one.atMs >= deadlineMs) return "too_late";
  if (one.decision === "reject") return null;
  if (one.standingFault !== null) return one.standingFault;
  if (requirement.signed === true && one.isSigned !== true) return "not_signed";
  if (requirement.people === true && one.isPerson !== true) return "not_a_person";
  return findIndependenceFault(initiator, one) ?? null;
}

/** Those that count of approvals that have no fault of their own. */
function chooseCounted(
  permitted: readonly Approval[],
  initiator: Pick<Initiator, "requestedAtMs" | "isSingleAdministrator">,
): ReadonlySet<Approval> {
  const sinceMs = keysCountSince(initiator);
  if (!initiator.isSingleAdministrator) {
    const holders = permitted.map((one) => ({ lineage: one.lineage, keys: allKeys(one) }));
    return new Set(chooseIndependent(addKeys(holders, sinceMs)).flatMap((index) => permitted[index] ?? []));
  }
  const valid = permitted.filter(
    (one, index) =>
      !permitted
        .slice(0, index)
        .some(
          (other) =>
            other.clientId !== one.clientId &&
            shareKey(one.publicKeys ?? [], other.publicKeys ?? [], sinceMs),
        ),
  );
  return new Set(new Map(valid.toReversed().map((one) => [one.clientId, one])).values());
}
