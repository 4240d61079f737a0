import { allScopes, showId } from "@bursar/protocol";
import { type AuditDraft, describeAct } from "../audit/audit-entry.js";
import { isRefused } from "../requests/refused.js";
import type { Wallet } from "../wallets/wallet.js";
import type { ClientService, CreatedClient } from "./client-service.js";

export interface Tenant {
  id: string;
  name: string;
  /** Set by the operator: clients are neither protected nor compared by their lineages. */
  singleAdministrator: boolean;
  createdAt: Date;
}

export interface TenantStore {
  /** Creates the tenant with its first wallets and its audit entry. */
  createTenant: (tenant: Tenant, wallets: readonly Wallet[], audit: AuditDraft) => Promise<void>;
  listTenants: () => Promise<(Tenant & { isSuspended: boolean })[]>;
  findTenant: (id: string) => Promise<Tenant | undefined>;
  /** Sets the opt-out with its audit entry; false if there is no such tenant. */
  setSingleAdministrator: (id: string, singleAdministrator: boolean, audit: AuditDraft) => Promise<boolean>;
}

export interface CreateTenantDeps {
  tenants: TenantStore;
  createClient: ClientService["createClient"];
  newUuid: () => string;
  now: () => number;
}

/**
 * Creates a tenant with its first client. That client holds every scope, because a client can only grant scopes that it holds.
 */
export function createTenantCreator({ tenants, createClient, newUuid, now }: CreateTenantDeps) {
  return async (name: string): Promise<{ tenant: Tenant } & CreatedClient> => {
    const tenant: Tenant = { id: newUuid(), name, singleAdministrator: false, createdAt: new Date(now()) };
    const origin = { by: "operator", tenantId: tenant.id } as const;
    const act = describeAct(origin, "tenant.create", showId("tnt", tenant.id), tenant.createdAt);
    await tenants.createTenant(tenant, firstWallets(tenant, newUuid), act);
    const first = await createClient(origin, { name: "first", scopes: allScopes }, undefined);
    if (isRefused(first)) throw new Error(`the operator was refused: ${first.refused}`);
    return { tenant, ...first };
  };
}

/** The primary wallet pays the settlement wallet if a transaction names neither. */
function firstWallets({ id: tenantId, createdAt }: Tenant, newUuid: () => string): Wallet[] {
  const common = {
    tenantId,
    network: "book",
    state: "active",
    frozen: false,
    version: 1,
    createdBy: null,
    createdAt,
    updatedAt: createdAt,
  } as const;
  return [
    { ...common, id: newUuid(), name: "primary", purpose: "treasury", role: "primary" },
    { ...common, id: newUuid(), name: "settlement", purpose: "settlement", role: "settlement" },
  ];
}
