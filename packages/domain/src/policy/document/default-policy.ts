import type { PolicyDocument } from "./policy-document.js";

const ownDestinations: PolicyDocument["rules"] = [
  { name: "own-wallets", when: { destinations: ["own_wallet"] }, action: "allow" },
  { name: "listed-addresses", when: { destinations: ["listed_address"] }, action: "allow" },
];

const elsewhere: PolicyDocument["default"] = {
  action: "reject",
  reason: "The destination is neither a wallet of this tenant nor an address on its allow-list.",
};

/**
 * The policy of a tenant that has not stored one: money moves only between its own wallets and to addresses on its allow-list. An order
 * pays another tenant, so it is refused until the tenant stores a policy that allows orders.
 */
export const defaultPolicy: PolicyDocument = {
  rules: [
    ...ownDestinations,
    {
      name: "no-orders",
      when: { kind: "order" },
      action: "reject",
      reason:
        'Orders are refused until the policy allows them. Store a policy with a rule such as {"name": "orders", "when": {"kind": "order"}, "action": "allow"}, with PUT /v1/policy.',
    },
  ],
  default: elsewhere,
};

/** The default policy for a tenant that trades, such as those of the sandbox: orders are allowed too. */
export const tradingPolicy: PolicyDocument = {
  rules: [...ownDestinations, { name: "orders", when: { kind: "order" }, action: "allow" }],
  default: elsewhere,
};
