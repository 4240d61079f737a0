import { type Me, showId } from "@bursar/protocol";
import type { TenantStore } from "../clients/create-tenant.js";
import { type Quotas, showClientQuotas } from "../quotas/client-quotas.js";
import type { Authenticated } from "./authenticate-request.js";

/** Shows the caller what its token is: the client, its tenant, scopes, quotas and expiry. */
export type ShowMe = (authenticated: Authenticated) => Promise<Me>;

export interface ShowMeDeps {
  tenants: Pick<TenantStore, "findTenant">;
  defaultQuotas: Quotas;
}

export function createMeShower({ tenants, defaultQuotas }: ShowMeDeps): ShowMe {
  return async ({ principal, client, claims }) => {
    const tenant = await tenants.findTenant(client.tenantId);
    if (tenant === undefined) throw new Error("the tenant of a client does not exist");
    return {
      object: "me",
      client: {
        id: showId("cli", client.id),
        name: client.name,
        scopes: [...client.scopes],
        require_signature: client.requireSignature,
        authority_changed_at: client.authorityChangedAt.toISOString(),
      },
      tenant: {
        id: showId("tnt", tenant.id),
        name: tenant.name,
        single_administrator: tenant.singleAdministrator,
      },
      token: {
        id: showId("tok", claims.tokenId),
        scopes: [...principal.scopes],
        issued_at: new Date(claims.issuedAtMs).toISOString(),
        expires_at: new Date(claims.expiresAtMs).toISOString(),
      },
      quotas: showClientQuotas({ ...defaultQuotas, ...client.quotas }),
    };
  };
}
