import type { Scope } from "@bursar/protocol";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { ClientQuotas } from "../quotas/client-quotas.js";
import type { Refused } from "../requests/refused.js";

/** A program that may act for a tenant, with the credentials that prove it. */
export interface ApiClient {
  id: string;
  tenantId: string;
  name: string;
  scopes: readonly Scope[];
  state: "active" | "disabled";
  requireSignature: boolean;
  quotas: ClientQuotas;
  secrets: readonly ClientSecret[];
  keys: readonly ClientKey[];
  createdAt: Date;
  updatedAt: Date;
  /** When it was last disabled: no token from before that is good again, also where the client is. */
  disabledAt: Date | null;
}

/** A secret as it is stored: its hash. */
export interface ClientSecret {
  id: string;
  hash: Uint8Array;
  createdAt: Date;
  expiresAt: Date | null;
}

/** A key that signs requests or assertions: a raw Ed25519 public key, or a sealed HMAC secret. */
export interface ClientKey {
  id: string;
  algorithm: "ed25519" | "hmac-sha256";
  material: Uint8Array;
  createdAt: Date;
}

/** What a change does to a client; what is left out stays as it is. */
export interface ClientChange {
  set?: Partial<Pick<ApiClient, "name" | "scopes" | "state" | "requireSignature" | "quotas">>;
  addSecret?: ClientSecret;
  /** Secrets that end at this time. */
  expireSecrets?: { ids: readonly string[]; at: Date };
  removeSecretIds?: readonly string[];
  addKey?: ClientKey;
  removeKeyIds?: readonly string[];
}

export interface IdempotentRequest {
  key: string;
  hash: string;
}

/** A request that makes something of a client's, and what it makes, where it has an idempotency key. */
export interface KeyedChange extends IdempotentRequest {
  /** The scope of the key, together with the tenant. */
  action: string;
  objectId: string;
}

/** What an earlier request with the same key was, and has made. */
export type EarlierChange = Pick<KeyedChange, "hash" | "objectId">;

export interface ClientStore {
  /** By its id alone, as the token endpoint must: the tenant is not known yet. */
  findClient: (id: string) => Promise<ApiClient | undefined>;
  findClientOfTenant: (tenantId: string, id: string) => Promise<ApiClient | undefined>;
  /** Newest first; `beforeId` is the last id of the page before. */
  listClients: (tenantId: string, limit: number, beforeId: string | undefined) => Promise<ApiClient[]>;
  /** Creates it with its audit entry; or finds the one that an earlier request with the same key has created. */
  createClient: (
    client: ApiClient,
    request: IdempotentRequest | undefined,
    audit: AuditDraft,
  ) => Promise<{ created: ApiClient } | { earlier: ApiClient; requestHash: string }>;
  /**
   * Locks it, asks what to do, and does it with its audit entry; undefined where the tenant has no such client, `locked` where
   * another process is at it for too long.
   */
  changeClient: (
    tenantId: string,
    id: string,
    decide: (client: ApiClient, earlier: EarlierChange | undefined) => ClientChange | "nothing" | Refused,
    audit: AuditDraft,
    keyed: KeyedChange | undefined,
  ) => Promise<ApiClient | Refused | "locked" | undefined>;
}
