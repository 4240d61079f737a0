// Generated from openapi.json by `npm run generate`.

/** What each scope allows, in words. */
export const scopeDescriptions: Readonly<Record<string, string>> = {
  "wallets:read": "Read wallets and their balances.",
  "wallets:write": "Create wallets.",
  "wallets:freeze": "Freeze wallets.",
  "wallets:unfreeze": "Unfreeze wallets.",
  "transactions:read": "Read transactions.",
  "transactions:write": "Create and cancel transactions.",
  "transactions:approve": "Approve or reject transactions that await approval.",
  "deposits:write": "Create deposits, which credit wallets with money from outside. Only the operator grants it.",
  "orderbook:read": "Read order books and markets.",
  "orders:read": "Read orders and trades.",
  "orders:write": "Place and cancel orders.",
  "events:read": "Read the event log and the live stream.",
  "webhooks:manage": "Manage webhook endpoints and deliveries.",
  "policies:read": "Read and evaluate the policy, and read the list of allowed destinations. Evaluating sums and counts also needs `transactions:read`.",
  "policies:manage": "Replace the policy.",
  "destinations:manage": "Add and remove allowed destinations.",
  "clients:manage": "Manage API clients, within the caller's own scopes.",
  "audit:read": "Read the audit log.",
  "system:manage": "Read how the service is doing for this tenant, and retry what it could not process.",
};
