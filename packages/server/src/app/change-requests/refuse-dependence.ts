import type { IndependenceFault } from "@bursar/domain";
import type { Refused } from "../requests/refused.js";

/** A clear message for each reason why an approval would not count. */
export function refuseDependence(fault: IndependenceFault, requested: "change" | "transaction"): Refused {
  const messages: Record<IndependenceFault, string> = {
    changed_since: `The approver was created, or its credentials, scopes or state were changed, after the ${requested} was requested.`,
    initiator_reset: `The client that requested the ${requested} was reset by the operator since. The ${requested} must be requested again.`,
    shared_key: `The approver and the client that requested the ${requested}, or clients that control them, have a public key in common, or had it since the request: who has its private key would decide alone.`,
    shared_lineage: `The approver and the client that requested the ${requested} are not independent: one client created or changed both of them, or one of them the other.`,
  };
  return { refused: "APPROVER_NOT_INDEPENDENT", message: messages[fault] };
}

/** The refusal of an approval by which the approver, or a client that controls it, would get what it lacks. */
export const refuseGainer: Refused = {
  refused: "APPROVER_NOT_INDEPENDENT",
  message:
    "The approver, or a client that can act as it, can act as the client that the change lets do more, and does not have all of those scopes itself. Another client must approve this change, or the operator replaces the client's credentials first.",
};
