import type { PolicyDocument } from "../policy/policy-document.js";
import { type Examples, lastPage } from "./example.js";
import { exampleIds } from "./example-ids.js";

export const examplePolicy: PolicyDocument = {
  rules: [
    {
      name: "daily-limit",
      when: { sum: { asset: "USD", per: "tenant", period_seconds: 86_400, above: "100000" } },
      action: "reject",
      reason: "More than 100,000 USD in 24 hours.",
    },
    {
      name: "large-payments",
      when: { amount: { asset: "USD", min: "10000" } },
      action: "require_approval",
      approvals: 1,
    },
    { name: "own-wallets", when: { destinations: ["own_wallet", "listed_address"] }, action: "allow" },
  ],
  default: { action: "reject", reason: "Only to our own wallets and listed addresses." },
};

const destination = {
  id: exampleIds.destination,
  object: "destination",
  label: "Cold storage",
  network: "eip155:1",
  address: "0x52908400098527886e0f7030069857d2e4169ee7",
  note: "Ledger in the safe",
  state: "active",
  created_by: exampleIds.client,
  created_at: "2026-11-06T09:30:00.000Z",
  effective_at: "2026-11-07T09:30:00.000Z",
};

export const exampleDestinationBody = {
  label: "Cold storage",
  network: "eip155:1",
  address: "0x52908400098527886E0F7030069857D2E4169EE7",
  note: "Ledger in the safe",
};

export const policyExamples: Examples = {
  Policy: {
    value: { object: "policy", version: 3, document: examplePolicy, updated_at: "2026-11-02T14:05:00.000Z" },
  },
  PolicyDocument: { value: examplePolicy },
  PolicyVersionPage: lastPage({
    object: "policy_version",
    version: 3,
    created_by: exampleIds.client,
    created_at: "2026-11-02T14:05:00.000Z",
  }),
  "EvaluatePolicyBody.transaction": {
    summary: "A transaction",
    value: { transaction: { reference: "invoice-2041", asset: "USD", amount: "25000" } },
  },
  "EvaluatePolicyBody.order": {
    summary: "An order",
    value: { order: { market: "ETH-USD", side: "buy", price: "3000", size: "0.5" } },
  },
  PolicyEvaluation: {
    value: {
      action: "require_approval",
      rule: "large-payments",
      policy_version: 3,
      reason: null,
      decided: "later",
      approval: { approvals: 1, clients: null, expires_after_seconds: 86_400, signed: false, people: false },
      sums: [
        {
          rule: "daily-limit",
          measure: "sum",
          per: "tenant",
          asset: "USD",
          period_seconds: 86_400,
          before: "12000",
          including: "37000",
          limit: "100000",
          above: false,
        },
      ],
    },
  },
  CreateDestinationBody: { value: exampleDestinationBody },
  Destination: { value: destination },
  DestinationPage: lastPage(destination),
  ApprovalTally: {
    value: {
      object: "approval_tally",
      transaction_id: exampleIds.transaction,
      state: "pending",
      required: 2,
      counted: 0,
      held: false,
      decisions: [
        {
          client_id: exampleIds.approver,
          decision: "approve",
          decided_at: "2026-11-16T10:02:44.310Z",
          counts: false,
          reason: "client_disabled",
        },
      ],
    },
  },
};
