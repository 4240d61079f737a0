/** What the scopes allow. A test holds this to the service's own list. */
export const scopeWords: Readonly<Record<string, string>> = {
  "wallets:read": "Read wallets and their balances.",
  "wallets:write": "Create wallets.",
  "wallets:freeze": "Freeze wallets.",
  "wallets:unfreeze": "Unfreeze wallets.",
  "transactions:read": "Read transactions.",
  "transactions:write": "Create and cancel transactions.",
  "transactions:approve": "Approve or reject transactions that await approval.",
  "deposits:write":
    "Create deposits, which credit wallets with money from outside. Only the operator grants it.",
  "orderbook:read": "Read order books and markets.",
  "orders:read": "Read orders and trades.",
  "orders:write": "Place and cancel orders.",
  "events:read": "Read the event log and the live stream.",
  "webhooks:manage": "Manage webhook endpoints and deliveries.",
  "policies:read":
    "Read and evaluate the policy, and read the list of allowed destinations. Evaluating sums and counts also needs `transactions:read`.",
  "policies:manage": "Replace the policy.",
  "destinations:manage": "Add and remove allowed destinations.",
  "clients:manage": "Manage API clients, within the caller's own scopes.",
  "audit:read": "Read the audit log.",
  "system:manage": "Read how the service is doing for this tenant, and retry what it could not process.",
};

/** What the built-in roles are for. */
const roleWords: Readonly<Record<string, string>> = {
  viewer: "Reads wallets, payments, orders, events and the policy, and changes nothing.",
  auditor: "Reads what a viewer reads, and the audit log.",
  operator:
    "Reads what a viewer reads. Pays, trades, creates wallets, freezes and unfreezes them, and retries what has failed.",
  approver: "Reads what a viewer reads, and approves or rejects payments.",
  developer: "Reads what a viewer reads, and manages webhooks.",
  admin:
    "Does what an operator, an auditor and a developer do, and manages people, clients, the policy and destinations. Does not approve payments.",
};

/** A role in words. One of the tenant is described by its scopes. */
export function describeRole({ name, scopes }: { name: string; scopes: readonly string[] }): string {
  const own = Object.hasOwn(roleWords, name) ? roleWords[name] : undefined;
  return own ?? scopes.map((scope) => (scopeWords[scope] ?? scope).replaceAll("`", "")).join(" ");
}
