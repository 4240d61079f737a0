import type { Principal } from "../access/authenticate-request.js";
import type { TokenClaims } from "../access/tokens.js";
import type { CallerReview } from "../clients/client.js";
import type { Listed } from "../requests/listed.js";
import type { StoredKeyEnd } from "./key-ends.js";

/** An entry of the audit log: who did what to which object, from where, and with which outcome. */
export interface AuditDraft {
  /** Undefined for an attempt by an unknown caller. */
  tenantId: string | undefined;
  occurredAt: Date;
  /** `service` is Bursar itself. */
  actor: "client" | "operator" | "anonymous" | "service";
  clientId: string | null;
  tokenId: string | null;
  /** The session of a person; its tokens last some minutes each. */
  sessionId?: string | null;
  action: string;
  object: string | null;
  /**
   * The ids of the objects of an entry that stands for several; `object` is null then. Or what else an entry names beside its object, such
   * as the URLs of a webhook endpoint, or what was set of a client. None of them has a space.
   */
  objects?: readonly string[] | null;
  outcome: "succeeded" | "refused";
  code: string | null;
  /** What the actor gave as its reason. */
  reason?: string | null;
  /** The number of equal attempts that the entry stands for. */
  repeated: number;
  requestId: string | null;
  address: string | null;
  /**
   * Where the log has placed the entry so far, if the act is recorded again in case the answer to its COMMIT was lost; the store adds to it.
   * An entry that is there is not written a second time. It is not part of the entry.
   */
  attempts?: AuditWrite["attempts"] | undefined;
  /** Reviews the caller once more when the entry is appended. It is not part of the entry. */
  caller?: CallerReview | undefined;
}

/** An entry at its position in the tenant's hash chain. */
export interface ChainedAuditEntry extends AuditDraft {
  tenantId: string;
  number: bigint;
  hash: Uint8Array;
  /** The master key of its hash; null for an entry from before the chain was keyed. */
  keyId: string | null;
}

/** An entry with the one that it continues; null if there is no such row. */
export interface ListedAuditEntry extends ChainedAuditEntry {
  previous: { hash: Uint8Array; keyId: string | null } | null;
}

/** A row that is not between the beginning and the head of its chain. */
export interface StrayEntry {
  tenantId: string;
  number: bigint;
  place: "removed" | "after the head";
}

/**
 * The action of an entry that is written before the next one, if the head of a chain does not have the right MAC, or if the next numbers
 * are taken: somebody has changed the head, for example to hide that entries were removed, or has inserted entries. Its object names the
 * entry that it continues.
 */
export const headChangedAction = "audit.head_changed";

/**
 * The action of an entry that is written before the next one, if a restore or a failover has lost entries of the chain. Its object names the
 * last one that was committed before.
 */
export const entriesLostAction = "audit.entries_lost";

/** Entries about the opt-out of a tenant. The head names the last of them. */
export const optOutActions: readonly string[] = [
  "tenant.single_administrator_on",
  "tenant.single_administrator_off",
];

/** The chain of entries that belong to no tenant. */
export const nilTenantId = "00000000-0000-0000-0000-000000000000";

/** The action of the first entry of a chain. A chain that begins otherwise has lost its beginning. */
export const chainStartActions = { tenant: "tenant.create", database: "audit.begin" } as const;

export function isChainStart(tenantId: string | null, action: string): boolean {
  const isDatabase = tenantId === null || tenantId === nilTenantId;
  return action === (isDatabase ? chainStartActions.database : chainStartActions.tenant);
}

/** Identifies a write, so that it can be repeated if the answer to its COMMIT was lost. */
export interface AuditWrite {
  writerId: string;
  number: number;
  /** Earlier writes are not repeated any more. */
  settledBelow: number;
  /**
   * Where each attempt so far has placed the last entry of each tenant; the store adds to it. A write is left out only if the entries of an
   * earlier attempt are in their chains. That their hashes are there cannot be forged, unlike a row that says so.
   */
  attempts: Pick<AuditHead, "tenantId" | "number" | "hash">[][];
}

/** Which entries are wanted. The conditions are combined. */
export interface AuditFilter {
  actor?: AuditDraft["actor"];
  clientId?: string;
  /** One of these actions, or one that begins like one of the prefixes. */
  actions?: { exact: readonly string[]; prefixes: readonly string[] };
  /** As it is shown; also one of `objects`. */
  object?: string;
  /** When the object was created, if its creation can be merged with that of others. */
  objectCreatedAt?: Date;
  outcome?: AuditDraft["outcome"];
  requestId?: string;
  occurredAfter?: Date;
  occurredBefore?: Date;
}

export interface AuditStore {
  append: (drafts: readonly AuditDraft[], write?: AuditWrite) => Promise<void>;
  /** Newest first, after the last one that was exported and removed. */
  list: (tenantId: string, limit: number, before: bigint | undefined) => Promise<ListedAuditEntry[]>;
  /** A page of the entries that match a filter, newest first. It reads a bounded number of entries. */
  find: (page: {
    tenantId: string;
    filter: AuditFilter;
    limit: number;
    before: bigint | undefined;
  }) => Promise<Listed<ListedAuditEntry>>;
  /** Oldest first, for verifying a chain. */
  listAscending: (tenantId: string, limit: number, after: bigint) => Promise<ChainedAuditEntry[]>;
  /** The last entry of every chain. */
  listHeads: () => Promise<AuditHead[]>;
  /** The last entry of every chain that was exported and removed. */
  listBases: () => Promise<AuditBase[]>;
  /** Up to where keys that were replaced count in a chain, as it is stored. */
  listKeyEnds: (tenantId: string) => Promise<StoredKeyEnd[]>;
  /** Rows that are in no chain: at most one of each chain and place. */
  listStrays: () => Promise<StrayEntry[]>;
  /** The number of the last entry of a chain that was exported and removed; undefined if there is none. */
  findRemovedTo: (tenantId: string) => Promise<bigint | undefined>;
}

export interface AuditHead {
  tenantId: string;
  number: bigint;
  hash: Uint8Array;
  /** The number of the last entry about the opt-out of the tenant, as PostgreSQL sends it; null if there is none. */
  optOut: string | null;
  keyId: string | null;
  mac: Uint8Array | null;
}

export interface AuditBase {
  tenantId: string;
  number: bigint;
  hash: Uint8Array;
  keyId: string;
  mac: Uint8Array;
}

/** The origin of an action: a client's request, or an operator at the command line. */
export type Origin = ClientOrigin | OperatorOrigin;

export interface OperatorOrigin {
  by: "operator";
  tenantId: string;
  /** The login with the OpenID provider that acts with the operator's authority, by the table of roles. The log does not name the operator then. */
  login?: { requestId: string; address: string };
}

export interface ClientOrigin {
  by: "client";
  principal: Principal;
  /** Of the access token; undefined if the service itself acts for the client. */
  claims?: TokenClaims;
  requestId: string;
  address: string;
  /** Charges the client the rows of clients that are read for its request, also if it is refused. */
  onClientsRead?: ((count: number) => void) | undefined;
}

export function tenantOf(origin: Origin): string {
  return origin.by === "operator" ? origin.tenantId : origin.principal.tenantId;
}

/** The client that acts; null for the operator. */
export function actorOf(origin: Origin): string | null {
  return origin.by === "operator" ? null : origin.principal.clientId;
}

/** The audit entry of an action that is about to succeed; it is written in the same SQL transaction as the action. */
export function describeAct(origin: Origin, action: string, object: string, occurredAt: Date): AuditDraft {
  const what = { occurredAt, action, object, outcome: "succeeded", code: null, repeated: 1 } as const;
  if (origin.by === "operator") {
    const { tenantId, login } = origin;
    return {
      ...what,
      tenantId,
      actor: login === undefined ? "operator" : "service",
      clientId: null,
      tokenId: null,
      requestId: login?.requestId ?? null,
      address: login?.address ?? null,
    };
  }
  const { principal, requestId, address } = origin;
  return {
    ...what,
    tenantId: principal.tenantId,
    actor: "client",
    clientId: principal.clientId,
    // The sandbox acts for its client without a token.
    tokenId: principal.tokenId === "" ? null : principal.tokenId,
    sessionId: principal.sessionId ?? null,
    requestId,
    address,
  };
}

/** The audit entry of an action that the service carries out later for a client, as when an approved change takes effect. */
export function describeLateAct(
  { tenantId, requestedBy }: { tenantId: string; requestedBy: string },
  action: string,
  object: string,
  occurredAt: Date,
): AuditDraft {
  return {
    tenantId,
    occurredAt,
    actor: "client",
    clientId: requestedBy,
    tokenId: null,
    action,
    object,
    outcome: "succeeded",
    code: null,
    repeated: 1,
    requestId: null,
    address: null,
  };
}
