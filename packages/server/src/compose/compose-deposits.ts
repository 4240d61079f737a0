import { randomUUID } from "node:crypto";
import { type AssetRegistry, parseAmount } from "@bursar/domain";
import { type CreateDeposit, createDepositCreator } from "../app/deposits/create-deposit.js";
import { createFunder, type FundWallet } from "../app/deposits/fund-wallet.js";
import { hashRequest } from "../app/requests/idempotency.js";
import type { TransactionStore } from "../app/transactions/transaction.js";
import type { WalletStore } from "../app/wallets/wallet.js";
import type { EventLog } from "../store/events/events.js";
import { createDepositStore } from "../store/transactions/deposits.js";
import type { ObserveUnit } from "../store/transactions/write-settlements.js";
import type { ComposeOptions } from "./compose.js";

/** Money from outside the book. */
export interface DepositParts {
  createDeposit: CreateDeposit;
  /** For the operator. */
  fundWallet: FundWallet;
  /** Funds a tenant's primary wallet, for the sandbox. */
  fundPrimary: (tenantId: string, asset: string, amount: string) => Promise<void>;
}

interface DepositNeeds {
  assets: AssetRegistry;
  events: EventLog;
  transactions: Pick<TransactionStore, "findByKey">;
  wallets: Pick<WalletStore, "findWalletByRole">;
  observeUnit: ObserveUnit;
}

export function composeDeposits(
  { database, newUuid, now }: Pick<ComposeOptions, "database" | "newUuid" | "now">,
  { assets, events, transactions, wallets, observeUnit }: DepositNeeds,
): DepositParts {
  const deposits = createDepositStore(database, events, observeUnit);
  const fundWallet = createFunder({ deposits, newUuid, now });
  return {
    createDeposit: createDepositCreator({ assets, deposits, transactions, newUuid, now }),
    fundWallet,
    fundPrimary: async (tenantId, code, amount) => {
      const asset = assets.find(code);
      const units = asset === undefined ? "malformed" : parseAmount(amount, asset.decimals);
      if (asset === undefined || typeof units === "string") throw new Error(`cannot fund ${amount} ${code}`);
      const { id: walletId, network } = await wallets.findWalletByRole(tenantId, "primary");
      if (asset.network !== network) throw new Error(`cannot fund ${code} on the network ${network}`);
      const request = { key: `sandbox-${randomUUID()}`, hash: hashRequest({ code, amount }) };
      await fundWallet({ tenantId, walletId, asset, amount: units, reference: "sandbox", request });
    },
  };
}
