import type { ChainDeposit } from "../../../src/app/chain/chain-deposit.js";
import type { BlockRef } from "../../../src/app/chain/chain-node.js";
import type { AttemptTerms, FollowedBlock, PaymentState } from "../../../src/app/chain/chain-store.js";
import type { HaltCode } from "../../../src/app/chain/halt.js";
import type { StopReason } from "../../../src/app/chain/stop-payment.js";
import type { Table } from "./simulated-rows.js";

/** The tables of chains, as `simulated-tables.ts` has the others. */

export interface NetworkRow {
  network: string;
  genesisHash: string;
  haltedReason: string | null;
  settledNumber: number;
  holder: string | null;
  fence: number;
  expiresMs: number;
}

export interface ChainWalletRow {
  tenantId: string;
  walletId: string;
  address: string;
  nextNonce: number;
  finalNonce: number;
  /** The lowest that was taken back from a payment. */
  reclaimedFrom: number | null;
  haltedCode: HaltCode | null;
  haltedReason: string | null;
  /** As the operator has stated it. */
  statedNonce: number | null;
  comparedNumber: number;
  confirmedEpoch: number;
}

export interface ChainPaymentRow extends Pick<PaymentState, "stage" | "attempt" | "wanted"> {
  tenantId: string;
  id: string;
  walletId: string;
  nonce: number | null;
  boundNonce: number | null;
  terms: AttemptTerms | null;
  termsNumber: number;
  speedUpRequested: boolean;
  stopReason: StopReason | null;
  included: { hash: string; block: BlockRef; succeeded: boolean; fee: bigint } | null;
}

export interface ChainAttemptRow {
  tenantId: string;
  id: string;
  number: number;
  hash: string;
  bytes: string;
  terms: AttemptTerms;
}

export const networks: Table<NetworkRow> = { name: "networks" };
/** Those that are suspended; a column of the tenants in the database. */
export const suspendedTenants: Table<true> = { name: "suspended_tenants" };
export const chainBlocks: Table<FollowedBlock> = { name: "chain_blocks" };
/** How often the signer has shown that the database went back. */
export const chainDoubts: Table<number> = { name: "wallet_doubts" };
export const chainWallets: Table<ChainWalletRow> = { name: "chain_wallets" };
export const chainPayments: Table<ChainPaymentRow> = { name: "chain_payments" };
/** The unique key on the nonces of a wallet; its rows say whose they are. */
export const chainNonces: Table<string> = { name: "chain_nonces" };
export const chainAttempts: Table<ChainAttemptRow> = { name: "chain_attempts" };
export const chainDeposits: Table<ChainDeposit> = { name: "chain_deposits" };
/** What was gathered, by wallet and asset. */
export const chainHoldings: Table<{ tenantId: string; walletId: string; asset: string; gathered: bigint }> = {
  name: "chain_holdings",
};

/** Numbers in keys sort like numbers. */
export function numberKey(number: number): string {
  return number.toString().padStart(9, "0");
}
