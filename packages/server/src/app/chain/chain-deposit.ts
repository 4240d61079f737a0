import type { BlockRef } from "./chain-node.js";
import type { WalletKey } from "./chain-store.js";

export interface DepositKey {
  hash: string;
  ordinal: number;
}

export interface ChainDeposit extends DepositKey, WalletKey {
  asset: string;
  amount: bigint;
  /** Null if it is below the minimum. */
  transactionId: string | null;
  block: BlockRef | null;
  /** The head when a reorganisation took it out of the chain. */
  leftNumber: number | null;
  state: "seen" | "credited" | "removed" | "gathered";
}
