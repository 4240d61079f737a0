import { describeTransactionStates, type Transaction } from "../resources/transaction.js";
import { type Examples, lastPage } from "./example.js";
import { exampleIds } from "./example-ids.js";

const wallets = {
  source: { wallet_id: exampleIds.primaryWallet },
  destination: { wallet_id: exampleIds.settlementWallet },
};
const address = "0x52908400098527886e0f7030069857d2e4169ee7";
const acceptedAt = "2026-11-16T09:30:00.000Z";
const digest = "ec85ccde536fc0b458180218c29f5dcbce4eb717394f12d387e386d67fbef212";
/** What `digest` is the SHA-256 of. */
const approvedContent = JSON.stringify({
  amount: "2500000",
  asset: "USD",
  created_by: exampleIds.client,
  decimals: 2,
  destination: wallets.destination,
  expires_at: null,
  kind: "transfer",
  network: "book",
  source: wallets.source,
  tenant_id: exampleIds.tenant,
  transaction_id: exampleIds.transaction,
  type: "bursar.approval.v3",
});
const accepted = { version: 1, state: "accepted", occurred_at: acceptedAt } as const;

const acceptedTransaction: Transaction = {
  id: exampleIds.transaction,
  object: "transaction",
  kind: "transfer",
  reference: "invoice-2041",
  asset: "USD",
  amount: "125.5",
  state: "accepted",
  version: 1,
  ...wallets,
  fee: null,
  network: "book",
  hash: null,
  block: null,
  failure: null,
  policy_version: 3,
  policy_rule: "own-wallets",
  approval: null,
  cancel_request: null,
  history: [accepted],
  metadata: { customer: "4711" },
  expires_at: null,
  created_by: exampleIds.client,
  created_at: acceptedAt,
  updated_at: acceptedAt,
};

const completedAt = "2026-11-16T09:30:00.041Z";
export const completedTransaction: Transaction = {
  ...acceptedTransaction,
  state: "completed",
  version: 2,
  history: [accepted, { version: 2, state: "completed", occurred_at: completedAt }],
  updated_at: completedAt,
};

const cancelledAt = "2026-11-16T09:31:12.500Z";
const cancelledTransaction: Transaction = {
  ...acceptedTransaction,
  state: "cancelled",
  version: 2,
  history: [
    accepted,
    {
      version: 2,
      state: "cancelled",
      occurred_at: cancelledAt,
      actor: { type: "client", client_id: exampleIds.client },
    },
  ],
  updated_at: cancelledAt,
};

const awaitingApproval: Transaction = {
  ...acceptedTransaction,
  amount: "25000",
  state: "awaiting_approval",
  version: 2,
  policy_rule: "large-payments",
  approval: {
    state: "pending",
    rule: "large-payments",
    required: 2,
    approved: 1,
    digest,
    expires_at: "2026-11-17T09:30:00.041Z",
    signed: false,
    people: false,
    wallets: [
      { id: exampleIds.primaryWallet, name: "Primary" },
      { id: exampleIds.settlementWallet, name: "Settlement" },
    ],
    decisions: [
      {
        client_id: exampleIds.approver,
        decision: "approve",
        comment: "Matches the invoice.",
        decided_at: "2026-11-16T10:02:44.310Z",
        signed: false,
      },
    ],
  },
  history: [accepted, { version: 2, state: "awaiting_approval", occurred_at: completedAt }],
  updated_at: "2026-11-16T10:02:44.310Z",
};

const deposit: Transaction = {
  ...completedTransaction,
  kind: "deposit",
  reference: "bank-transfer-3390",
  policy_version: 0,
  policy_rule: null,
  amount: "10000",
  source: null,
  destination: wallets.source,
  metadata: {},
};

const failedTransaction: Transaction = {
  ...completedTransaction,
  state: "failed",
  failure: { code: "INSUFFICIENT_FUNDS", message: "Insufficient funds in the source wallet." },
  history: [accepted, { version: 2, state: "failed", occurred_at: completedAt }],
};

const hash = "0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b";
const broadcastAt = "2026-11-16T09:30:00.310Z";
const broadcastPayout: Transaction = {
  ...acceptedTransaction,
  kind: "payout",
  reference: "payout-88",
  asset: "USDC",
  amount: "250",
  state: "broadcast",
  version: 3,
  source: { wallet_id: exampleIds.payoutWallet },
  destination: { address },
  network: "eip155:1",
  hash,
  history: [
    accepted,
    { version: 2, state: "processing", occurred_at: completedAt },
    { version: 3, state: "broadcast", occurred_at: broadcastAt },
  ],
  metadata: {},
  updated_at: broadcastAt,
};

const item = { reference: "invoice-2041", asset: "USD", amount: "125.50" };

export const transactionExamples: Examples = {
  "CreateTransactionBody.minimal": {
    summary: "From the tenant's primary to its settlement wallet",
    value: item,
  },
  "CreateTransactionBody.wallets": {
    summary: "Between two wallets, with metadata and an expiry",
    value: { ...item, ...wallets, metadata: { customer: "4711" }, expires_at: "2036-11-16T09:45:00Z" },
  },
  "CreateTransactionBody.address": {
    summary: "A payout to an address",
    value: {
      reference: "payout-88",
      asset: "USDC",
      amount: "250",
      source: { wallet_id: exampleIds.payoutWallet },
      destination: { address },
    },
  },
  CreateDepositBody: {
    value: {
      reference: "bank-transfer-3390",
      asset: "USD",
      amount: "10000",
      destination: { wallet_id: exampleIds.primaryWallet },
    },
  },
  "Transaction.accepted": { summary: "Accepted, not processed yet", value: acceptedTransaction },
  "Transaction.completed": { summary: "Completed", value: completedTransaction },
  "Transaction.awaiting_approval": {
    summary: "Waits for a second approval",
    value: awaitingApproval,
  },
  "Transaction.deposit": { summary: "A deposit", value: deposit },
  "Transaction.failed": { summary: "Failed", value: failedTransaction },
  "Transaction.broadcast": { summary: "A payout, sent to its chain", value: broadcastPayout },
  "ChangedTransaction.awaiting_approval": {
    summary: "Waits for a second approval, for a client with `transactions:read`",
    value: awaitingApproval,
  },
  "ChangedTransaction.broadcast": {
    summary: "Sped up, for a client with `transactions:read`",
    value: broadcastPayout,
  },
  "ChangedTransaction.cancelled": {
    summary: "Cancelled, for a client with `transactions:read`",
    value: cancelledTransaction,
  },
  "ChangedTransaction.summary": {
    summary: "For a client without it",
    value: { id: exampleIds.transaction, object: "transaction", state: "processing" },
  },
  TransactionPage: lastPage(completedTransaction),
  CreateTransactionsBody: {
    value: {
      transactions: [
        { idempotency_key: "2041-1", ...item },
        { idempotency_key: "2042-1", reference: "invoice-2042", asset: "USD", amount: "80" },
      ],
    },
  },
  TransactionBatchResult: {
    value: {
      data: [
        { status: "accepted", transaction: acceptedTransaction },
        {
          status: "error",
          error: {
            code: "ASSET_UNKNOWN",
            message: "The asset is not known.",
            request_id: exampleIds.request,
            doc_url: "https://bursar.example/docs/reference/errors#ASSET_UNKNOWN",
          },
        },
      ],
    },
  },
  DecideApprovalBody: { value: { decision: "approve", digest, comment: "Matches the invoice." } },
  "ApprovalRecords.transaction": {
    summary: "Of a transaction",
    value: {
      digest,
      content: approvedContent,
      data: [
        {
          object: "approval",
          client_id: exampleIds.approver,
          decision: "approve",
          digest,
          comment: "Matches the invoice.",
          decided_at: "2026-11-16T10:02:44.310Z",
          signature: null,
        },
      ],
    },
  },
  LedgerEntries: {
    value: {
      data: [
        {
          object: "ledger_entry",
          line: 1,
          debit: { kind: "wallet", wallet_id: exampleIds.primaryWallet },
          credit: { kind: "wallet", wallet_id: exampleIds.settlementWallet },
          asset: "USD",
          amount: "125.5",
        },
      ],
    },
  },
  TransactionStates: { value: { data: describeTransactionStates() } },
  AssetList: {
    value: {
      data: [
        {
          code: "USD",
          caip19: null,
          decimals: 2,
          network: "book",
          minimum: "0.01",
          maximum: "1000000",
        },
        {
          code: "USDC",
          caip19: "eip155:1/erc20:0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48",
          decimals: 6,
          network: "book",
          minimum: "0.000001",
          maximum: "1000000",
        },
      ],
    },
  },
};
