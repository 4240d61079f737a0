import { showId } from "@bursar/protocol";
import { type ClientOrigin, describeAct } from "../audit/audit-entry.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { isProtected, refuseBeyondScopes, refuseProtected } from "./client-authority.js";
import { type ClientDeps, tooManyChanges } from "./client-service.js";
import { callerReviewOf } from "./review-caller.js";

/**
 * Why a client may not end what another one does: it could keep an approver from deciding. As the client is now, with the caller reviewed
 * once more. Nothing is written.
 */
export async function refuseToManage(
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
      (isProtected(client, facts) ? refuseProtected(client) : "nothing"),
    describeAct(origin, "client.manage", showId("cli", clientId), new Date(now())),
    undefined,
    callerReviewOf(origin, now),
  );
  if (judged === "locked") return tooManyChanges;
  return isRefused(judged) ? judged : undefined;
}
