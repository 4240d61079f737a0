import type { CompiledPolicy, PolicyDocument } from "@bursar/domain";
import type { FreshCache } from "../../runtime/fresh-cache.js";
import type { AuditDraft } from "../audit/audit-entry.js";

/** A version of a tenant's policy as it is kept. */
export interface StoredPolicy {
  version: number;
  document: PolicyDocument;
  /** Null for the policy that every tenant begins with. */
  updatedAt: Date | null;
}

/** Who has put a version in force, and when. */
export interface PolicyVersion {
  version: number;
  clientId: string;
  createdAt: Date;
}

export interface PolicyStore {
  /** The version in force, or the one asked for; undefined where none was written, or not that one. */
  readPolicy: (tenantId: string, version?: number) => Promise<StoredPolicy | undefined>;
  /** Puts the next version in force; undefined where the one in force is not the expected one. */
  writePolicy: (
    tenantId: string,
    expectedVersion: number,
    policy: { document: PolicyDocument; clientId: string; createdAt: Date },
    audit: AuditDraft,
  ) => Promise<StoredPolicy | undefined>;
  /** Newest first; `before` is the last version of the page before. */
  listVersions: (tenantId: string, limit: number, before: number | undefined) => Promise<PolicyVersion[]>;
  /** Which of these wallets or clients the tenant has. */
  findOwn: (
    tenantId: string,
    kind: "wallet" | "client",
    ids: readonly string[],
  ) => Promise<ReadonlySet<string>>;
}

/** A policy in the form that requests are judged by. */
export interface ActivePolicy {
  version: number;
  policy: CompiledPolicy;
}

/** The policies in force, by tenant: a change is in force everywhere within five seconds. */
export type ActivePolicies = FreshCache<ActivePolicy>;
