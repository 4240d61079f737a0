import type { PolicyDocument } from "./policy-document.js";

/** The policy of a tenant that has written none: money stays with the tenant, or goes where it has said that money may go. */
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
