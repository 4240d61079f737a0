import type { Wallet } from "../resources/wallet.js";
import { type Examples, lastPage } from "./example.js";
import { exampleIds } from "./example-ids.js";

const createdAt = "2026-10-27T09:30:00.000Z";

const frozenReason = "The key of the payout job was found in a public log.";

const summary = {
  id: exampleIds.payoutWallet,
  object: "wallet" as const,
  name: "Payouts",
  purpose: "payout" as const,
  network: "book",
  role: null,
  state: "active" as const,
  frozen: false,
  frozen_reason: null,
  version: 2,
  address: null,
  account: null,
  created_by: exampleIds.client,
  created_at: createdAt,
  updated_at: "2026-10-27T09:30:00.120Z",
};

export const walletSummary = summary;

const activeWallet: Wallet = {
  ...summary,
  balances: [{ asset: "USD", available: "9874.5", held: "125.5", incoming: null, on_chain: null }],
  sending: null,
};

const chainAddress = "0x52908400098527886E0F7030069857D2E4169EE7";
const chainWallet: Wallet = {
  ...activeWallet,
  network: "eip155:1",
  address: chainAddress,
  account: `eip155:1:${chainAddress}`,
  balances: [
    {
      asset: "USDC",
      available: "740",
      held: "250",
      incoming: "10",
      on_chain: { amount: "990", block_number: 24_018_733 },
    },
  ],
  sending: {
    next_nonce: 12,
    final_nonce: 11,
    in_flight: 1,
    oldest_at: "2026-10-27T10:02:11.402Z",
    halted_reason: null,
    blocked_by: null,
  },
};

const frozenWallet: Wallet = { ...activeWallet, frozen: true, frozen_reason: frozenReason, version: 3 };

export const walletExamples: Examples = {
  "CreateWalletBody.book": { summary: "On the book", value: { name: "Payouts", purpose: "payout" } },
  "CreateWalletBody.chain": {
    summary: "On a chain",
    value: { name: "Payouts", purpose: "payout", network: "eip155:1" },
  },
  "Wallet.creating": {
    summary: "Accepted",
    value: { ...activeWallet, state: "creating", version: 1, balances: [], updated_at: createdAt },
  },
  "Wallet.active": { summary: "Active", value: activeWallet },
  FreezeWalletBody: { value: { reason: frozenReason } },
  "Wallet.frozen": {
    summary: "Frozen",
    value: frozenWallet,
  },
  "ChangedWallet.frozen": {
    summary: "Frozen, for a client with `wallets:read`",
    value: frozenWallet,
  },
  "ChangedWallet.frozen_summary": {
    summary: "Frozen, for a client without it",
    value: { id: activeWallet.id, object: "wallet", state: "active", frozen: true },
  },
  "ChangedWallet.active": {
    summary: "Not frozen, for a client with `wallets:read`",
    value: activeWallet,
  },
  "ChangedWallet.active_summary": {
    summary: "Not frozen, for a client without it",
    value: { id: activeWallet.id, object: "wallet", state: "active", frozen: false },
  },
  "Wallet.chain": { summary: "On a chain", value: chainWallet },
  WalletPage: lastPage(activeWallet),
  NetworkList: {
    value: {
      data: [
        {
          id: "eip155:1",
          object: "network",
          state: "following",
          halted_reason: null,
          halted_at: null,
          unreachable_since: null,
          stalled_since: null,
          stalled_reason: null,
          head_block: 24_018_801,
          final_block: 24_018_733,
          settled_block: 24_018_733,
          base_fee_gwei: "1.274",
          fee_cap_gwei: "200",
          fee_max: "0.05",
          finality: "finalized",
          coin: "ETH",
          assets: ["ETH", "USDC"],
          seen_at: "2026-10-27T10:02:11.402Z",
        },
      ],
    },
  },
};
