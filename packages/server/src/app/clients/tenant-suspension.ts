import { showId } from "@bursar/protocol";
import type { StopInAnyCase } from "../access/stop-in-any-case.js";
import { type AuditDraft, describeAct } from "../audit/audit-entry.js";

export interface TenantSuspensionStore {
  isSuspended: (tenantId: string) => Promise<boolean>;
  /** Suspends or resumes a tenant, with its audit entry and what that leaves to do. */
  setSuspended: (
    tenantId: string,
    isSuspended: boolean,
    audit: AuditDraft,
  ) => Promise<"changed" | "unchanged" | "unknown">;
}

/**
 * Suspends or resumes a tenant; only the operator can. While it is suspended its tokens are refused, its open orders are cancelled and
 * none of its transactions is settled. Its webhooks are still sent. All processes know of it within 5 seconds.
 */
export type SetTenantSuspended = (
  tenantId: string,
  isSuspended: boolean,
) => Promise<"changed" | "unchanged" | "unknown">;

export interface SetTenantSuspendedDeps {
  store: TenantSuspensionStore;
  stopInAnyCase: StopInAnyCase;
  /** Begins with what is left to do. */
  onChanged: (tenantId: string, isSuspended: boolean) => Promise<void>;
  now: () => number;
}

export function createTenantSuspension({
  store,
  stopInAnyCase,
  onChanged,
  now,
}: SetTenantSuspendedDeps): SetTenantSuspended {
  return async (tenantId, isSuspended) => {
    const action = isSuspended ? "tenant.suspend" : "tenant.resume";
    const origin = { by: "operator", tenantId } as const;
    const audit = describeAct(origin, action, showId("tnt", tenantId), new Date(now()));
    const act = () => store.setSuspended(tenantId, isSuspended, audit);
    const otherwise = async () => "changed" as const;
    const outcome = isSuspended
      ? await stopInAnyCase({ tenantId, subjectId: tenantId }, { act, otherwise, isDecided: () => true })
      : await act();
    if (outcome === "changed") await onChanged(tenantId, isSuspended);
    return outcome;
  };
}
