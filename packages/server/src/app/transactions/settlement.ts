import type { Balance, Decision } from "@bursar/domain";

/** A transaction that an engine has claimed, with what its decision needs. */
export interface ClaimedTransaction {
  tenantId: string;
  id: string;
  version: number;
  asset: string;
  amount: bigint;
  sourceWalletId: string;
  destinationWalletId: string;
  expiresAt: Date | null;
  sourceIsFrozen: boolean;
  /** The network of the source, which says which rail moves the money. */
  network: string;
}

export interface AccountKey {
  tenantId: string;
  ownerId: string;
  asset: string;
}

/** The name of an account among those of a batch. */
export function accountName({ tenantId, ownerId, asset }: AccountKey): string {
  return `${tenantId} ${ownerId} ${asset}`;
}

export interface Settlement {
  transaction: ClaimedTransaction;
  decision: Decision;
  occurredAt: Date;
}

/** Balances by account, which a decision reads and changes: the next decision of the batch sees what the one before has done. */
export type Accounts = Map<string, Balance>;

export interface SettlementStore {
  /** Claims, locks, asks for decisions and writes them, in one SQL transaction without network. Says what it has settled. */
  settle: (
    limit: number,
    /** Passes over what was accepted before; undefined looks at everything. */
    acceptedFrom: Date | undefined,
    decide: (claimed: readonly ClaimedTransaction[], accounts: Accounts) => Settlement[],
  ) => Promise<{ tenantId: string; id: string }[]>;
}
