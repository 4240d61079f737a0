import { type Scope, showId } from "@bursar/protocol";
import { judgeToken } from "../access/judge-token.js";
import { type AuditDraft, describeAct, type Origin } from "../audit/audit-entry.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { CallerReview, ClientAccess } from "./client.js";

/**
 * A request is authenticated before its body arrives and with a cached client. A change of clients is therefore authenticated again in
 * its SQL transaction: otherwise a client that was disabled or reset in the meantime could undo that. Undefined for the operator, and for
 * the service itself, which acts without a token.
 */
export function callerReviewOf(origin: Origin, now: () => number): CallerReview | undefined {
  if (origin.by === "operator" || origin.claims === undefined) return undefined;
  const { principal, claims, onClientsRead } = origin;
  const review = (access: ClientAccess): Refused | undefined => {
    const judgement = judgeToken(claims, access, now());
    if (isRefused(judgement)) return judgement;
    return refuseLost(principal.scopes, judgement.principal.scopes);
  };
  return { clientId: principal.clientId, review, onClientsRead };
}

/**
 * The audit entry of an action whose caller is reviewed once more when it is appended: the action may have waited for locks until then, and
 * its caller may have been disabled. The audit log is locked at that time, and every change of a client is written to it too, so either
 * the review sees that change, or the change comes after the action. Not for an action that can end its caller's own access, which would
 * refuse itself; nor for one that only stops something.
 */
export function describeReviewedAct(
  origin: Origin,
  action: string,
  object: string,
  occurredAt: Date,
): AuditDraft {
  const caller = callerReviewOf(origin, () => occurredAt.getTime());
  return { ...describeAct(origin, action, object, occurredAt), caller };
}

/** The same for an action on a client or on something else, unless that is the caller itself. */
export function describeActOn(
  target: string,
  ...[origin, action, object, occurredAt]: Parameters<typeof describeAct>
): AuditDraft {
  const isOwn = origin.by === "client" && target === showId("cli", origin.principal.clientId);
  const describe = isOwn ? describeAct : describeReviewedAct;
  return describe(origin, action, object, occurredAt);
}

function refuseLost(authenticated: ReadonlySet<Scope>, held: ReadonlySet<Scope>): Refused | undefined {
  const lost = [...authenticated].filter((scope) => !held.has(scope));
  if (lost.length === 0) return undefined;
  return { refused: "INSUFFICIENT_SCOPE", message: `The caller has lost the scopes ${lost.join(", ")}.` };
}
