import type { CompiledPolicy, PolicyDocument } from "@bursar/domain";
import type { FreshCache } from "../../runtime/fresh-cache.js";
import type { AuditDraft } from "../audit/audit-entry.js";

/** A stored version of a tenant's policy. */
export interface StoredPolicy {
  version: number;
  document: PolicyDocument;
  /** Null for the policy that every tenant starts with. */
  updatedAt: Date | null;
  /** The version that payments to addresses off the allow-list are judged by as well, until a time; null if there is none. */
  guard: PolicyGuard | null;
}

/**
 * A policy that lets more addresses be paid would cut short the waiting time of the allow-list. For as long as a new address waits, such
 * payments are therefore judged by the version before, too.
 */
export interface PolicyGuard {
  version: number;
  until: Date;
}

/** A version to put in force. */
export interface NewPolicy {
  document: PolicyDocument;
  clientId: string;
  createdAt: Date;
  guard: PolicyGuard | null;
}

/** The client that put a version in force, and the time. */
export interface PolicyVersion {
  version: number;
  clientId: string;
  createdAt: Date;
}

export interface PolicyStore {
  /** The requested version, by default the one in force; undefined if it does not exist. */
  readPolicy: (tenantId: string, version?: number) => Promise<StoredPolicy | undefined>;
  /** The number of the version in force; undefined if the tenant has not stored a policy. */
  readPolicyVersion: (tenantId: string) => Promise<number | undefined>;
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
}

/** What a change of the policy is planned from. */
export type PolicyReads = Pick<PolicyStore, "readPolicy" | "findOwn">;

/** A compiled policy. */
export interface ActivePolicy {
  version: number;
  policy: CompiledPolicy;
  guard: { version: number; policy: CompiledPolicy; until: Date } | null;
}

/** The policies in force, by tenant. A change takes effect in every process within five seconds. */
export type ActivePolicies = FreshCache<ActivePolicy>;
