/** What is written down of an act: who did what to which object, from where, and how it ended. */
export interface AuditDraft {
  /** Undefined for an attempt by nobody in particular. */
  tenantId: string | undefined;
  occurredAt: Date;
  actor: "client" | "operator" | "anonymous";
  clientId: string | null;
  tokenId: string | null;
  action: string;
  object: string | null;
  outcome: "succeeded" | "refused";
  code: string | null;
  /** How many equal attempts it stands for. */
  repeated: number;
  requestId: string | null;
  address: string | null;
}

/** An entry in its place in the chain. */
export interface ChainedAuditEntry extends AuditDraft {
  tenantId: string;
  number: bigint;
  hash: Uint8Array;
}

/** The chain of what cannot be counted to a tenant. */
export const nilTenantId = "00000000-0000-0000-0000-000000000000";

export interface AuditStore {
  append: (drafts: readonly AuditDraft[]) => Promise<void>;
  /** Newest first. */
  list: (tenantId: string, limit: number, before: bigint | undefined) => Promise<ChainedAuditEntry[]>;
  /** Oldest first, for following a chain. */
  listAscending: (tenantId: string, limit: number, after: bigint) => Promise<ChainedAuditEntry[]>;
  /** Where every chain should end. */
  listHeads: () => Promise<AuditHead[]>;
}

export interface AuditHead {
  tenantId: string;
  number: bigint;
  hash: Uint8Array;
}
