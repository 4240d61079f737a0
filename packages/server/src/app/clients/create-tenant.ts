import { grantableScopes, showId } from "@bursar/protocol";
import { type AuditDraft, describeAct } from "../audit/audit-entry.js";
import { hashRequest, replay } from "../requests/idempotency.js";
import type { EarlierResult, OperatorRequest, OperatorResult } from "../requests/operator-request.js";
import type { Refused } from "../requests/refused.js";
import type { Wallet } from "../wallets/wallet.js";
import type { ApiClient, ClientStore } from "./client.js";
import { type ClientDeps, type CreatedClient, draftClient } from "./client-service.js";

export interface Tenant {
  id: string;
  name: string;
  /** Set by the operator: clients are neither protected nor compared by their lineages. */
  singleAdministrator: boolean;
  createdAt: Date;
}

export interface TenantStore {
  /** Creates the tenant; if a command with the same key has created one before, nothing is written and that one is returned. */
  createTenant: (draft: TenantDraft) => Promise<EarlierResult | undefined>;
  listTenants: () => Promise<(Tenant & { isSuspended: boolean })[]>;
  findTenant: (id: string) => Promise<Tenant | undefined>;
  /** Sets the opt-out with its audit entry; false if there is no such tenant. */
  setSingleAdministrator: (id: string, singleAdministrator: boolean, audit: AuditDraft) => Promise<boolean>;
}

interface CreatedTenant extends CreatedClient {
  tenant: Tenant;
}

/** Everything that a new tenant begins with. It is written in one SQL transaction. */
interface TenantDraft {
  tenant: Tenant;
  wallets: readonly Wallet[];
  client: ApiClient;
  audit: readonly AuditDraft[];
  /** Undefined if the command cannot be repeated, as in the sandbox. */
  request: OperatorRequest | undefined;
  /** The client's secret, which a repeated command shows again. */
  sealedSecret: Uint8Array | null;
}

export interface CreateTenantDeps extends Pick<ClientDeps, "keys" | "newUuid" | "randomBytes" | "now"> {
  tenants: TenantStore;
  clients: Pick<ClientStore, "findClientOfTenant">;
  sealSecret: (tenantId: string, secret: Uint8Array) => Uint8Array;
  /** Undefined if its master key is not listed any more. */
  openSecret: (tenantId: string, sealed: Uint8Array) => Uint8Array | undefined;
}

export interface TenantCreator {
  createTenant: (name: string) => Promise<CreatedTenant>;
  /** The same under a key, with which the command can be repeated. */
  createTenantOnce: (name: string, key: string) => Promise<CreatedTenant | Refused>;
}

/**
 * Creates a tenant with its first client. That client holds every scope that clients can grant, because it grants only
 * scopes that it holds. A repeated
 * command shows the secret again, for a day: if the first answer was lost, nobody has it.
 */
export function createTenantCreator(deps: CreateTenantDeps): TenantCreator {
  const { tenants, sealSecret } = deps;
  return {
    createTenant: async (name) => {
      const { secret, ...draft } = draftTenant(deps, name);
      await tenants.createTenant({ ...draft, request: undefined, sealedSecret: null });
      return { tenant: draft.tenant, client: draft.client, secret };
    },
    createTenantOnce: async (name, key) => {
      const { secret, ...draft } = draftTenant(deps, name);
      const { tenant, client } = draft;
      const request = { action: "tenant.create", key, hash: hashRequest({ name }) } as const;
      const sealedSecret = sealSecret(tenant.id, Buffer.from(secret));
      const found = await tenants.createTenant({ ...draft, request, sealedSecret });
      if (found === undefined) return { tenant, client, secret };
      return await replay(found.requestHash, request.hash, () => showEarlier(deps, found.earlier));
    },
  };
}

function draftTenant(deps: CreateTenantDeps, name: string) {
  const { newUuid, now } = deps;
  const tenant: Tenant = { id: newUuid(), name, singleAdministrator: false, createdAt: new Date(now()) };
  const origin = { by: "operator", tenantId: tenant.id } as const;
  const { client, secret } = draftClient(deps, origin, { name: "first", scopes: grantableScopes });
  const audit = [
    describeAct(origin, "tenant.create", showId("tnt", tenant.id), tenant.createdAt),
    describeAct(origin, "client.create", showId("cli", client.id), tenant.createdAt),
  ];
  return { tenant, wallets: firstWallets(tenant, newUuid), client, secret, audit };
}

async function showEarlier(
  { tenants, clients, openSecret }: CreateTenantDeps,
  { tenantId, objectId, sealedSecret }: OperatorResult,
): Promise<CreatedTenant> {
  const tenant = await tenants.findTenant(tenantId);
  const client = await clients.findClientOfTenant(tenantId, objectId);
  if (tenant === undefined || client === undefined)
    throw new Error("a tenant that was created does not exist");
  const secret = sealedSecret === null ? undefined : openSecret(tenantId, sealedSecret);
  return { tenant, client, secret: secret === undefined ? null : Buffer.from(secret).toString() };
}

/** The primary wallet pays the settlement wallet if a transaction names neither. */
function firstWallets({ id: tenantId, createdAt }: Tenant, newUuid: () => string): Wallet[] {
  const common = {
    tenantId,
    network: "book",
    state: "active",
    frozen: false,
    frozenReason: null,
    version: 1,
    address: null,
    createdBy: null,
    createdAt,
    updatedAt: createdAt,
  } as const;
  return [
    { ...common, id: newUuid(), name: "primary", purpose: "treasury", role: "primary" },
    { ...common, id: newUuid(), name: "settlement", purpose: "settlement", role: "settlement" },
  ];
}
