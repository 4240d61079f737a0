import { approvalDigest, readApprovalTerms } from "@bursar/client";

const time = "2026-01-02T03:04:05.000Z";
const wallets = ["wlt_01hw000000e008000000000001", "wlt_01hw000000e008000000000002"] as const;

export function wallet(changed: object = {}) {
  return {
    id: wallets[0],
    object: "wallet",
    name: "primary",
    purpose: "treasury",
    network: "book",
    role: "primary",
    state: "active",
    frozen: false,
    version: 1,
    address: null,
    account: null,
    created_by: null,
    created_at: time,
    updated_at: time,
    balances: [{ asset: "USD", available: "874.5", held: "0", incoming: null, on_chain: null }],
    sending: null,
    ...changed,
  };
}

/** The example of the policy guide. */
export const waiting = {
  id: "tx_01hw000000e008000000000001",
  object: "transaction" as const,
  kind: "transfer" as const,
  reference: "invoice-7",
  asset: "USD",
  amount: "12500",
  state: "awaiting_approval" as const,
  version: 2,
  source: { wallet_id: wallets[0] },
  destination: { wallet_id: wallets[1] },
  fee: null,
  network: "book",
  hash: null,
  block: null,
  failure: null,
  policy_rule: "large-payments",
  cancel_request: null,
  policy_version: 1,
  history: [],
  metadata: {},
  expires_at: null,
  created_by: "cli_01hw000000e008000000000009",
  created_at: time,
  updated_at: time,
  approval: {
    state: "pending" as const,
    rule: "large-payouts",
    required: 1,
    approved: 0,
    digest: "de4841acff5bf48e6a02370c4368bf425f2eba87cd40d76014b8af441b577d29",
    expires_at: time,
    signed: false,
    people: false,
    wallets: [
      { id: wallets[0], name: "primary" },
      { id: wallets[1], name: "settlement" },
    ],
    decisions: [],
  },
};

const tenantId = "tnt_01hw000000e008000000000001";

/** The digest that an honest service would have for this transaction. */
export function honestDigest(transaction: typeof waiting): Promise<string> {
  return approvalDigest(readApprovalTerms(transaction, tenantId, 2));
}

export const me = {
  object: "me",
  client: {
    id: "cli_1",
    name: "officer",
    scopes: ["transactions:read"],
    require_signature: false,
    authority_changed_at: time,
  },
  tenant: { id: tenantId, name: "acme", single_administrator: false },
  token: { id: "tok_1", scopes: ["transactions:read"], issued_at: time, expires_at: time },
  quotas: {},
};

export const assets = {
  data: [{ code: "USD", caip19: null, decimals: 2, network: "book", minimum: "0.01", maximum: "1000000" }],
};
