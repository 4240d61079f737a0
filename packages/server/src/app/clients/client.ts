import type { Scope } from "@bursar/protocol";
import type { FreshCache } from "../../runtime/fresh-cache.js";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { ClientQuotas } from "../quotas/client-quotas.js";
import type { Earlier, IdempotentRequest } from "../requests/idempotency.js";
import type { Refused } from "../requests/refused.js";
import type { FormerKey } from "./former-keys.js";

/** A program or a person that may act for a tenant, with the credentials that it authenticates with. */
export interface ApiClient {
  id: string;
  tenantId: string;
  name: string;
  scopes: readonly Scope[];
  state: "active" | "disabled";
  requireSignature: boolean;
  /** Null for a program. */
  person: PersonFacts | null;
  quotas: ClientQuotas;
  secrets: readonly ClientSecret[];
  keys: readonly ClientKey[];
  /** The keys that it had, and those that have an end, as they count between approver and requester; null if there are none. */
  formerKeys?: readonly FormerKey[] | null | undefined;
  /** Null if the operator created it. */
  createdBy: string | null;
  /** The last change of its credentials, scopes, state or `requireSignature`; null if the operator made it. */
  authorityChangedBy: string | null;
  authorityChangedAt: Date;
  /** The clients that could act as it, in the order in which they came. */
  controllers: readonly string[];
  /** When the operator last replaced all of its credentials. */
  resetAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** When it was last disabled. Tokens issued before that stay invalid, even if the client is enabled again. */
  disabledAt: Date | null;
  /** Somebody other than the service has written to its row or its credentials. It is disabled and has no credentials. */
  isTampered?: boolean;
}

/** What a client has only if it is a person. `name` is how the person is called. */
export interface PersonFacts {
  email: string;
  /** The client has the scopes of this role. */
  role: string;
  /** The client that has written the role, and is part of the person's lineage for as long as the person has it. */
  roleCreatedBy?: string;
  /** The client that may make a new link for a person who has not used the last one; undefined if the operator alone may. */
  linkBy?: string | undefined;
  /** The account with which the person has logged in at the OpenID provider. */
  account?: ProviderAccount | undefined;
  /** Accounts that the person had before, which are nobody else's; undefined if there are none. */
  formerAccounts?: readonly FormerAccount[] | undefined;
}

/** An account of an OpenID provider. */
export interface ProviderAccount {
  issuer: string;
  subject: string;
}

export interface FormerAccount extends ProviderAccount {
  /** The operator has said that it is somebody else's. */
  released?: true;
}

/** What records say of who a person is. */
export interface RecordedPerson extends Pick<PersonFacts, "email" | "account"> {
  tenantId: string;
  /** Null for one who has not been created. */
  id: string | null;
}

/** A secret as it is stored: its hash, with the key of the master key `keyId`. */
export interface ClientSecret {
  id: string;
  hash: Uint8Array;
  /** Null if the operator added it. */
  addedBy: string | null;
  keyId: string;
  /** To the minute; null if it was never used. */
  lastUsedAt: Date | null;
  createdAt: Date;
  expiresAt: Date | null;
}

/** A key that signs requests or assertions: a raw Ed25519 public key, a sealed HMAC secret, or the passkey of a person. */
export interface ClientKey {
  id: string;
  algorithm: "ed25519" | "hmac-sha256" | "passkey";
  material: Uint8Array;
  /** Null if the operator added it. */
  addedBy: string | null;
  expiresAt: Date | null;
  /** To the minute; null if it was never used. */
  lastUsedAt: Date | null;
  createdAt: Date;
}

/** Whether a secret or a key can be used at this time. */
export function isLive({ expiresAt }: Pick<ClientKey, "expiresAt">, nowMs: number): boolean {
  return expiresAt === null || expiresAt.getTime() > nowMs;
}

/** The part of a client that authenticating its requests needs. */
export interface ClientAccess {
  client: ApiClient | undefined;
  revokedTokenIds: ReadonlySet<string>;
  /** Whether its tenant is suspended. */
  isSuspended: boolean;
}

/** Authenticates the caller of a change again, as it is in the change's SQL transaction. */
export interface CallerReview {
  clientId: string;
  review: (access: ClientAccess) => Refused | undefined;
  /** Charges the caller the clients that were read for it. */
  onClientsRead?: ((count: number) => void) | undefined;
}

/** Keyed by the client's id. */
export type ClientAccessCache = FreshCache<ClientAccess>;

/** A change of a client; fields that are left out stay as they are. */
export interface ClientChange {
  set?: Partial<Pick<ApiClient, "name" | "scopes" | "state" | "requireSignature" | "person" | "quotas">>;
  addSecret?: ClientSecret;
  /** Secrets that expire at this time. */
  expireSecrets?: { ids: readonly string[]; at: Date };
  removeSecretIds?: readonly string[];
  addKey?: ClientKey;
  removeKeyIds?: readonly string[];
  /** The counter of a passkey has grown. */
  setKeyMaterial?: { id: string; material: Uint8Array };
  /** What to cancel of what a disabled client has requested. */
  cancel?: readonly ("orders" | "transactions")[];
  /** Set if the change touches credentials, scopes, state or `requireSignature`. */
  authority?: AuthorityChange;
}

/** Who changes a client's authority, and whether that client could act as it from now on. */
export interface AuthorityChange {
  /** Null for the operator. */
  by: string | null;
  /**
   * `added`: the client belongs to the lineage for good; `unchanged`: another client approved the change, or it changes itself;
   * `reset`: the operator has replaced all credentials, so that no other client can act as it any more.
   */
  controllers: "added" | "unchanged" | "reset";
}

/** What decides whether a client is protected, besides its own fields. */
export interface ClientFacts {
  /** Whether the policy in force, or one before it, names the client. */
  isNamedByPolicy: boolean;
  isSingleAdministrator: boolean;
  /** Whether another person of the tenant who can log in administers clients. */
  hasOtherAdministrator: boolean;
  /** Whether the operator has disabled the client, and neither the operator nor an approved change request has enabled it since. */
  isStoppedByOperator: boolean;
}

export type DecideClientChange = (
  client: ApiClient,
  facts: ClientFacts,
  earlier: EarlierChange | undefined,
) => ClientChange | "nothing" | Refused;

/** Changes of clients as a part of a larger SQL transaction. */
export interface ClientUnit {
  findClient: (tenantId: string, id: string) => Promise<ApiClient | undefined>;
  /** Locks the client and writes the change with its audit entry; undefined if the tenant has no such client. */
  changeClient: (
    tenantId: string,
    id: string,
    decide: DecideClientChange,
    audit: AuditDraft,
  ) => Promise<ApiClient | Refused | undefined>;
  afterCommit: (work: () => void) => void;
}

/** A request with an idempotency key that adds a credential to a client, and the id of that credential. */
export interface KeyedChange extends IdempotentRequest {
  /** The scope of the key, together with the tenant. */
  action: string;
  objectId: string;
}

/** What an earlier request with the same idempotency key asked for and created. */
export type EarlierChange = Pick<KeyedChange, "hash" | "objectId">;

export interface ClientStore {
  /** Finds a client by its id alone, for the token endpoint, which does not know the tenant yet. */
  findClient: (id: string) => Promise<ApiClient | undefined>;
  findClientOfTenant: (tenantId: string, id: string) => Promise<ApiClient | undefined>;
  /** Newest first; `beforeId` is the last id of the previous page. */
  listClients: (tenantId: string, limit: number, beforeId: string | undefined) => Promise<ApiClient[]>;
  /** The same, of clients that are people. */
  listPeople: (tenantId: string, limit: number, beforeId: string | undefined) => Promise<ApiClient[]>;
  /** The person of the tenant with this address, in any case of letters. */
  findPerson: (tenantId: string, email: string) => Promise<ApiClient | undefined>;
  /** The person who has this account, or had it before. */
  findPersonOfAccount: (tenantId: string, account: ProviderAccount) => Promise<ApiClient | undefined>;
  /** The id of another person who has this account or address according to what was recorded, whatever the rows of people say. */
  findRecordedOther: (person: RecordedPerson) => Promise<string | undefined>;
  /** The accounts that a person has or had, according to what was recorded. */
  listRecordedAccounts: (tenantId: string, personId: string) => Promise<ProviderAccount[]>;
  /** Creates the client with its audit entry, or finds the one that an earlier request with the same key created. */
  createClient: (
    client: ApiClient,
    request: IdempotentRequest | undefined,
    audit: AuditDraft,
    /** The most clients that a tenant may have. */
    clientsMax: number,
    caller: CallerReview | undefined,
  ) => Promise<{ created: ApiClient } | Earlier<ApiClient> | Refused | "too_many">;
  /**
   * Locks the client, calls `decide`, and writes the change with its audit entry. The result is undefined if the tenant has no such
   * client, and `locked` if another process holds the row for too long.
   */
  changeClient: (
    tenantId: string,
    id: string,
    decide: DecideClientChange,
    audit: AuditDraft,
    keyed: KeyedChange | undefined,
    caller: CallerReview | undefined,
  ) => Promise<ApiClient | Refused | "locked" | undefined>;
  /** As `changeClient`, with all clients of the tenant locked, because a reset also changes those that the client controls. */
  resetClient: (
    tenantId: string,
    id: string,
    decide: DecideClientChange,
    audit: AuditDraft,
  ) => Promise<ApiClient | Refused | "locked" | undefined>;
}
