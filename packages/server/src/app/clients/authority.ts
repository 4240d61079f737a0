import { allScopes, type Scope } from "@bursar/protocol";
import type { Origin } from "../audit/act.js";
import { type ClientQuotas, findBeyond } from "../quotas/client-quotas.js";
import type { Refused } from "../requests/refused.js";
import type { ClientDeps } from "./client-deps.js";

/**
 * Nobody gives away more than they have, and nobody touches a client that may do more than they may: whoever could give such a
 * client a new secret could become it. A person at the command line has the database and is not limited.
 */
export function refuseBeyondAuthority(origin: Origin, scopes: readonly Scope[]): Refused | undefined {
  const held = origin.by === "operator" ? new Set(allScopes) : origin.principal.scopes;
  const missing = scopes.filter((scope) => !held.has(scope));
  if (missing.length === 0) return undefined;
  return { refused: "INSUFFICIENT_SCOPE", message: `This needs the caller to hold ${missing.join(", ")}.` };
}

/** Nor a larger quota than everybody has, or they have themselves. */
export async function refuseBeyondQuota(
  { clients, defaultQuotas }: Pick<ClientDeps, "clients" | "defaultQuotas">,
  origin: Origin,
  wanted: ClientQuotas,
): Promise<Refused | undefined> {
  if (origin.by === "operator") return undefined;
  const caller = await clients.findClientOfTenant(origin.principal.tenantId, origin.principal.clientId);
  const beyond = findBeyond(wanted, caller?.quotas ?? {}, defaultQuotas);
  if (beyond.length === 0) return undefined;
  const reason = "is more than the default and than the caller's own";
  return {
    refused: "QUOTA_BEYOND_OWN",
    details: beyond.map((name) => ({ path: `body.quotas.${name}`, reason })),
  };
}
