import type { WalletPurpose } from "@bursar/domain";
import type { AuditDraft } from "../audit/audit-entry.js";
import type { Earlier, IdempotentRequest } from "../requests/idempotency.js";
import type { Listed } from "../requests/listed.js";

export type WalletRole = "primary" | "settlement";

export interface Wallet {
  tenantId: string;
  id: string;
  name: string;
  purpose: WalletPurpose;
  network: string;
  role: WalletRole | null;
  state: "creating" | "active";
  frozen: boolean;
  /** As the last freeze gave it; null if it is not frozen. */
  frozenReason: string | null;
  version: number;
  /** On its network, with a checksum; null while it is created, and for wallets of the book. */
  address: string | null;
  /** The client that created it; null for the wallets that a tenant starts with. */
  createdBy: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What a request needs to know of a wallet. Once it is active, none of this changes. Its address is in canonical form. */
export type KnownWallet = Pick<Wallet, "id" | "purpose" | "network" | "address">;

export type FoundWallet = KnownWallet & Pick<Wallet, "state">;

/** What the event log calls a wallet's state: it has one name for state and freeze together. */
export function loggedWalletState(state: Wallet["state"], frozen: boolean): string {
  if (state === "creating") return frozen ? "creating_frozen" : "creating";
  return frozen ? "frozen" : "active";
}

export function readLoggedWalletState(logged: string): Pick<Wallet, "state" | "frozen"> {
  return {
    state: logged.startsWith("creating") ? "creating" : "active",
    frozen: logged.endsWith("frozen"),
  };
}

/** What the event of a frozen wallet holds besides its state. */
export interface FreezeDetails {
  reason: string;
}

export function freezeDetails(reason: string | null | undefined): { details?: FreezeDetails } {
  return reason == null ? {} : { details: { reason } };
}

export interface WalletBalance {
  asset: string;
  available: bigint;
  held: bigint;
  /** Null for wallets of the book. */
  chain: ChainBalance | null;
}

interface ChainBalance {
  /** Deposits in blocks that are not final. */
  incoming: bigint;
  /** What the chain has said last; null before it was asked. */
  confirmed: { amount: bigint; blockNumber: number } | null;
}

/** What a wallet of a chain is sending. */
export interface WalletSending {
  nextNonce: number;
  finalNonce: number;
  inFlight: number;
  oldestAt: Date | null;
  /** Why nothing more is sent, until the operator resumes it. */
  haltedReason: string | null;
  /** Why no payment gets a nonce; null if nothing is known that keeps them from it. */
  blockedBy:
    | "wallet_halted"
    | "network_halted"
    | "unconfirmed"
    | "network_waiting"
    | "network_unreachable"
    | null;
  /** Of the last block of its network, in wei; null before the first one. */
  baseFee: bigint | null;
}

export interface WalletWithBalances extends Wallet {
  balances: readonly WalletBalance[];
  /** Null for wallets of the book, and for those without an address. */
  sending: WalletSending | null;
}

export type WalletFilter = Partial<Pick<Wallet, "purpose" | "state" | "network" | "frozen">>;

/** What the engine does for wallets. */
export interface WalletActivation {
  /** Makes new wallets active, with their events; returns how many. */
  activateWallets: (limit: number, occurredAt: Date) => Promise<number>;
}

export interface WalletStore {
  /** Creates it with its audit entry. */
  createWallet: (
    wallet: Wallet,
    request: IdempotentRequest | undefined,
    audit: AuditDraft,
  ) => Promise<{ created: Wallet } | Earlier<Wallet>>;
  readWallet: (tenantId: string, id: string) => Promise<WalletWithBalances | undefined>;
  listWallets: (
    tenantId: string,
    filter: WalletFilter,
    limit: number,
    beforeId: string | undefined,
  ) => Promise<Listed<WalletWithBalances>>;
  /** Freezes or unfreezes it, with its event and its audit entry, which has the reason; undefined if the tenant has no such wallet. */
  setFrozen: (
    tenantId: string,
    id: string,
    frozen: boolean,
    audit: AuditDraft,
  ) => Promise<WalletWithBalances | undefined>;
  readWallets: (tenantId: string, ids: readonly string[]) => Promise<Wallet[]>;
  findWallet: (tenantId: string, id: string) => Promise<FoundWallet | undefined>;
  findWalletByRole: (tenantId: string, role: WalletRole) => Promise<FoundWallet>;
  /** The tenant's own wallet that has this address, in canonical form. */
  findWalletByAddress: (
    tenantId: string,
    network: string,
    address: string,
  ) => Promise<FoundWallet | undefined>;
}
