import { feeTenantId } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import { type AuditDraft, chainStartActions, describeAct, nilTenantId } from "./audit-entry.js";

/**
 * The first entries of a new database: of the chain that belongs to no tenant, and of the fee tenant, which a migration creates. Every
 * other tenant is created with its first entry.
 */
export function firstEntries(now: Date): AuditDraft[] {
  const begin = (tenantId: string, action: string, object: string) =>
    describeAct({ by: "operator", tenantId }, action, object, now);
  return [
    begin(nilTenantId, chainStartActions.database, "database"),
    begin(feeTenantId, chainStartActions.tenant, showId("tnt", feeTenantId)),
  ];
}
