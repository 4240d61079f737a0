import type { PolicyDocument } from "./policy-document.js";

/** The policy of a tenant that has not stored one: money moves only between its own wallets and to addresses on its allow-list. */
export const defaultPolicy: PolicyDocument = {
  rules: [
    { name: "own-wallets", when: { destinations: ["own_wallet"] }, action: "allow" },
    { name: "listed-addresses", when: { destinations: ["listed_address"] }, action: "allow" },
  ],
  default: {
    action: "reject",
    reason: "The destination is neither a wallet of this tenant nor an address on its allow-list.",
  },
};
