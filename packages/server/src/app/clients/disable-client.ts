import { type ChangeClientBody, showId } from "@bursar/protocol";
import type { StopInAnyCase } from "../access/stop-in-any-case.js";
import { type AuditWrite, describeAct, type Origin, tenantOf } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ChangeOptions } from "./apply-client-change.js";
import type { ApiClient, ClientAccessCache, ClientStore } from "./client.js";

/** Refusals that a writer to the database can cause. */
const hinders: ReadonlySet<string> = new Set(["CLIENT_TAMPERED", "CONCURRENCY_LIMITED"]);

interface DisableClientDeps {
  clients: Pick<ClientStore, "findClientOfTenant">;
  access: Pick<ClientAccessCache, "forget">;
  stopInAnyCase: StopInAnyCase;
  /** Records a disabled client of which only the stop was written. */
  recorder: Pick<AuditRecorder, "record">;
  now: () => number;
}

interface Disabling {
  clientId: string;
  action: "client.change" | "person.change";
  cancelsPayments?: boolean | undefined;
}

/** The operator disables a client in any case, also one whose row was changed or is locked; a client only if it was found that it may. */
export function disableClient(
  { clients, access, stopInAnyCase, recorder, now }: DisableClientDeps,
  origin: Origin,
  { clientId, action, cancelsPayments = false }: Disabling,
  change: (observe: Pick<ChangeOptions, "onDecided" | "attempts">) => Promise<ApiClient | Refused>,
): Promise<ApiClient | Refused> {
  const tenantId = tenantOf(origin);
  const attempts: AuditWrite["attempts"] = [];
  let isDecided = origin.by === "operator";
  const onDecided = () => {
    isDecided = true;
  };
  return stopInAnyCase<ApiClient | Refused>(
    { tenantId, subjectId: clientId },
    {
      act: async () => {
        const changed = await change({ onDecided, attempts });
        if (isDecided && isRefused(changed) && hinders.has(changed.refused))
          throw new Error(`the client could not be disabled: ${changed.refused}`);
        return changed;
      },
      otherwise: async () => {
        access.forget(clientId);
        return (await clients.findClientOfTenant(tenantId, clientId)) ?? { refused: "CLIENT_NOT_FOUND" };
      },
      isDecided: () => isDecided,
      onRecorded: () => {
        const entry = describeAct(origin, action, showId("cli", clientId), new Date(now()));
        if (origin.by !== "operator") recorder.record({ ...entry, attempts });
      },
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
