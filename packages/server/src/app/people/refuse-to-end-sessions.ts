import { showId } from "@bursar/protocol";
import { type ClientOrigin, describeAct } from "../audit/audit-entry.js";
import { tooManyChanges } from "../clients/apply-client-change.js";
import type { ApiClient, ClientFacts } from "../clients/client.js";
import { isProtected, refuseBeyondScopes, refuseProtected } from "../clients/client-authority.js";
import type { ClientDeps } from "../clients/client-service.js";
import { callerReviewOf } from "../clients/review-caller.js";
import { isRefused, type Refused } from "../requests/refused.js";

/**
 * Why a client may not end the sessions of a person: it lacks a scope of the person, or it could keep an approver of payments from deciding.
 * An administrator can end those of another one. As the person is now, with the caller reviewed once more. Nothing is written.
 */
export async function refuseToEndSessions(
  { clients, now }: Pick<ClientDeps, "clients" | "now">,
  origin: ClientOrigin,
  clientId: string,
): Promise<Refused | undefined> {
  const { tenantId, clientId: by } = origin.principal;
  if (by === clientId) return undefined;
  const judged = await clients.changeClient(
    tenantId,
    clientId,
    (client, facts) =>
      refuseBeyondScopes(origin, client.scopes) ??
      (isApprover(client, facts) ? refuseProtected(client, facts) : undefined) ??
      "nothing",
    describeAct(origin, "client.manage", showId("cli", clientId), new Date(now())),
    undefined,
    callerReviewOf(origin, now),
  );
  if (judged === "locked") return tooManyChanges;
  return isRefused(judged) ? judged : undefined;
}

function isApprover(client: ApiClient, facts: ClientFacts): boolean {
  const approves = facts.isNamedByPolicy || client.scopes.includes("transactions:approve");
  return approves && isProtected(client, facts);
}
