import { feeTenantId } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import { type AuditDraft, chainStartActions, describeAct, nilTenantId } from "./audit-entry.js";

/**
 * The first entries of a new database: of the chain that belongs to no tenant, and of the fee tenant, which a migration creates. Every
 * other tenant is created with its first entry.
 */
export function firstEntries(now: Date): AuditDraft[] {
  const origin = { by: "operator", tenantId: nilTenantId } as const;
  return [
    describeAct(origin, chainStartActions.database, "database", now),
    describeActOnTenant(feeTenantId, chainStartActions.tenant, now),
  ];
}

/** The audit entry of what the operator does to a tenant. */
export function describeActOnTenant(tenantId: string, action: string, now: Date): AuditDraft {
  return describeAct({ by: "operator", tenantId }, action, showId("tnt", tenantId), now);
}
