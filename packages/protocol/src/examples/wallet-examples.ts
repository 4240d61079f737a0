import type { Wallet } from "../resources/wallet.js";
import { type Examples, lastPage } from "./example.js";
import { exampleIds } from "./example-ids.js";

const createdAt = "2026-10-27T09:30:00.000Z";

const summary = {
  id: exampleIds.payoutWallet,
  object: "wallet" as const,
  name: "Payouts",
  purpose: "payout" as const,
  network: "book",
  role: null,
  state: "active" as const,
  frozen: false,
  version: 2,
  address: null,
  created_by: exampleIds.client,
  created_at: createdAt,
  updated_at: "2026-10-27T09:30:00.120Z",
};

export const walletSummary = summary;

const activeWallet: Wallet = {
  ...summary,
  balances: [{ asset: "USD", available: "9874.5", held: "125.5" }],
};

export const walletExamples: Examples = {
  CreateWalletBody: { value: { name: "Payouts", purpose: "payout" } },
  "Wallet.creating": {
    summary: "Accepted",
    value: { ...activeWallet, state: "creating", version: 1, balances: [], updated_at: createdAt },
  },
  "Wallet.active": { summary: "Active", value: activeWallet },
  "Wallet.frozen": { summary: "Frozen", value: { ...activeWallet, frozen: true, version: 3 } },
  WalletPage: lastPage(activeWallet),
};
