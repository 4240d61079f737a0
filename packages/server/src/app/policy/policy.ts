import type { CompiledPolicy, PolicyDocument, WindowKind } from "@bursar/domain";
import type { FreshCache } from "../../runtime/fresh-cache.js";
import type { AuditDraft } from "../audit/audit-entry.js";

/** A stored version of a tenant's policy. */
export interface StoredPolicy {
  version: number;
  document: PolicyDocument;
  /** Null for the policy that every tenant starts with. */
  updatedAt: Date | null;
  /** The versions that payments to addresses off the allow-list are judged by as well, each until a time. At most `guardsMax`. */
  guards: readonly PolicyGuard[];
}

/**
 * A policy that lets more addresses be paid would cut short the waiting time of the allow-list. For as long as a new address waits, such
 * payments are therefore judged by the version before, too. Each such version is kept for its whole time: with only one of them, a client
 * could close and open an asset, and pay by what the other versions allowed.
 */
export interface PolicyGuard {
  /** Null rejects every such payment: it stands for more versions than are kept. */
  version: number | null;
  until: Date;
}

export interface PolicyKey {
  tenantId: string;
  version: number;
}

/** A version to put in force. */
export interface NewPolicy {
  document: PolicyDocument;
  /** Null for the operator. */
  clientId: string | null;
  createdAt: Date;
  guards: readonly PolicyGuard[];
  /** What it and its guards sum over. All of them must have been prepared. */
  windows: readonly WindowKind[];
  /** The clients that the version it replaces names. */
  namedBefore: readonly string[];
}

/** The client that put a version in force, and the time. */
export interface PolicyVersion {
  version: number;
  /** Null for the operator. */
  clientId: string | null;
  createdAt: Date;
}

export interface PolicyStore {
  /** The requested version, by default the one in force; undefined if it does not exist. */
  readPolicy: (tenantId: string, version?: number) => Promise<StoredPolicy | undefined>;
  /** The numbers of the versions in force, by tenant; none for a tenant that has not stored a policy. */
  readPolicyVersions: (tenantIds: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Those of these versions that exist. */
  readPolicies: (keys: readonly PolicyKey[]) => Promise<(StoredPolicy & PolicyKey)[]>;
  /** Puts the next version in force; undefined if the version in force is not the expected one. */
  writePolicy: (
    tenantId: string,
    expectedVersion: number,
    policy: NewPolicy,
    audit: AuditDraft,
  ) => Promise<StoredPolicy | undefined>;
  /** Newest first; `before` is the last version of the previous page. */
  listVersions: (tenantId: string, limit: number, before: number | undefined) => Promise<PolicyVersion[]>;
  /** Those of the given wallets or clients that belong to the tenant. */
  findOwn: (
    tenantId: string,
    kind: "wallet" | "client",
    ids: readonly string[],
  ) => Promise<ReadonlySet<string>>;
  /**
   * The number of approvals that a change which this client requests could get now, of these clients or of all; counted no further than
   * `enough`.
   */
  countChangeApprovers: (
    tenantId: string,
    requesterId: string,
    clientIds: readonly string[] | null,
    enough: number,
  ) => Promise<number>;
}

/** What a change of the policy is planned from. */
export type PolicyReads = Pick<PolicyStore, "readPolicy" | "findOwn" | "countChangeApprovers">;

/** A compiled policy. */
export interface ActivePolicy {
  version: number;
  policy: CompiledPolicy;
  guards: readonly { policy: CompiledPolicy; until: Date }[];
}

/** The policies in force, by tenant. A change takes effect in every process within five seconds. */
export interface ActivePolicies extends FreshCache<ActivePolicy> {
  /** The same policies; what is not cached is read with these reads, such as those of a SQL transaction. */
  within: (reads: ActivePolicyReads) => BatchPolicies;
}

/** What is read to find the policy in force. */
export type ActivePolicyReads = Pick<PolicyStore, "readPolicyVersions" | "readPolicies">;

/** The policies for a batch of requests of many tenants. */
export interface BatchPolicies extends Pick<FreshCache<ActivePolicy>, "peek"> {
  /** Reads those of all tenants together, in a number of statements that does not grow with the tenants whose policies are known. */
  loadAll: (tenantIds: readonly string[]) => Promise<ReadonlyMap<string, ActivePolicy>>;
}
