import type { ChangeKind, ChangeOf, Scope } from "@bursar/protocol";
import type { ClientOrigin } from "../audit/audit-entry.js";
import type { CredentialProof } from "../clients/prove-credential.js";
import type { Refused } from "../requests/refused.js";
import type {
  ChangeRequest,
  ChangeRequirement,
  ChangeStanding,
  ChangeUnit,
  RequestedRaise,
} from "./change-request.js";

/**
 * How one kind of change is checked and applied. To add a kind:
 *
 * 1. Add the schema of its `change` and a variant of `CreateChangeRequestBody` in `packages/protocol/src/access/change-request.ts`.
 * 2. If it writes something other than clients, add that write to `ChangeUnit` (`change-request.ts`) and implement it in
 *    `store/access/change-requests/change-requests.ts` on the unit's SQL transaction.
 * 3. Write a `ChangeExecutor` and list it in `compose/compose-change-requests.ts`, which does not compile without it.
 *
 * Deciding, scheduling, expiry, audit entries and events are the same for every kind (`change-request-service.ts`).
 */
export interface ChangeExecutor<Kind extends ChangeKind> {
  /** Whether this caller may request the change. It must hold the scope that making the change directly would need. */
  check: (
    origin: ClientOrigin,
    change: ChangeOf<Kind>,
    proof: CredentialProof,
  ) => Promise<CheckedChange<Kind> | Refused>;
  /**
   * Called before the unit in which the change may be applied, for what takes longer than a SQL transaction should. If it is refused, the
   * request stays as it is and is tried again.
   */
  prepare?: (request: ChangeRequest<Kind>) => Promise<Refused | undefined>;
  /**
   * Applies an approved change in the unit's SQL transaction, with its own audit entry. It decides again, because the target can have
   * changed. A refusal makes the request `failed` with its code, so it must be returned before anything is written.
   */
  apply: (
    unit: ChangeUnit,
    request: ChangeRequest<Kind>,
    requester: ChangeStanding["requester"],
    now: Date,
  ) => Promise<Refused | undefined>;
  /**
   * The UUID of the client that loses something by the change. It cannot reject it, nor can a client that depends on it: otherwise a
   * client that was taken over could not be stopped by the others.
   */
  loserOf?: (change: ChangeOf<Kind>) => string | undefined;
  /** What the change lets a client do. A client that would get it as well, and lacks it, does not approve the change. */
  raiseOf?: (change: ChangeOf<Kind>) => RequestedRaise | undefined;
  /** Called after the commit, for caches. */
  onApplied?: (request: ChangeRequest<Kind>) => void;
}

export interface CheckedChange<Kind extends ChangeKind = ChangeKind> {
  /** The public id of what would be changed. */
  target: string;
  /** What is stored, shown and approved, if it says more than what was requested. */
  change?: ChangeOf<Kind>;
  /** `expiresAfterSeconds` defaults to 72 hours. Without approvals and delay, the change is applied at once. */
  requirement: Omit<ChangeRequirement, "expiresAfterSeconds"> & { expiresAfterSeconds?: number };
}

export type ChangeExecutors = { readonly [Kind in ChangeKind]: ChangeExecutor<Kind> };

/** The refusal of a caller whose token lacks a scope. */
export function refuseWithoutScope(origin: ClientOrigin, scope: Scope): Refused | undefined {
  if (origin.principal.scopes.has(scope)) return undefined;
  return { refused: "INSUFFICIENT_SCOPE", message: `The access token lacks the scope ${scope}.` };
}
