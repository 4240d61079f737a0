import type { ChangeClientBody } from "@bursar/protocol";
import type { StopInAnyCase } from "../access/stop-in-any-case.js";
import { type Origin, tenantOf } from "../audit/audit-entry.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ApiClient, ClientAccessCache, ClientStore } from "./client.js";

/** Refusals that a writer to the database can cause. */
const hinders: ReadonlySet<string> = new Set(["CLIENT_TAMPERED", "CONCURRENCY_LIMITED"]);

interface DisableClientDeps {
  clients: Pick<ClientStore, "findClientOfTenant">;
  access: Pick<ClientAccessCache, "forget">;
  stopInAnyCase: StopInAnyCase;
}

/** The operator disables a client in any case, also one whose row was changed or is locked; a client only if it was found that it may. */
export function disableClient(
  { clients, access, stopInAnyCase }: DisableClientDeps,
  origin: Origin,
  clientId: string,
  change: (onDecided: () => void) => Promise<ApiClient | Refused>,
  cancelsPayments = false,
): Promise<ApiClient | Refused> {
  const tenantId = tenantOf(origin);
  let isDecided = origin.by === "operator";
  const onDecided = () => {
    isDecided = true;
  };
  return stopInAnyCase<ApiClient | Refused>(
    { tenantId, subjectId: clientId },
    {
      act: async () => {
        const changed = await change(onDecided);
        if (isDecided && isRefused(changed) && hinders.has(changed.refused))
          throw new Error(`the client could not be disabled: ${changed.refused}`);
        return changed;
      },
      otherwise: async () => {
        access.forget(clientId);
        return (await clients.findClientOfTenant(tenantId, clientId)) ?? { refused: "CLIENT_NOT_FOUND" };
      },
      isDecided: () => isDecided,
      cancelsPayments,
      byOperator: origin.by === "operator",
    },
  );
}

/** Only what a client cannot do any more is cancelled for it. */
export function refuseToCancel(body: ChangeClientBody, state: ApiClient["state"]): Refused | undefined {
  if (body.cancel === undefined || (body.state ?? state) === "disabled") return undefined;
  const reason = "is possible only for a client that is disabled";
  return { refused: "INVALID_REQUEST", details: [{ path: "body.cancel", reason }] };
}
