/** The permissions of a token. A route names the one scope it requires; `docs/reference/scopes.md` is generated from both. */
export const scopeCatalog = {
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
} as const satisfies Record<string, string>;

/** A client with one of these scopes is protected: other clients change its authority only by a change request. */
export const protectingScopes = [
  "transactions:approve",
  "policies:manage",
  "destinations:manage",
  "clients:manage",
] as const satisfies readonly (keyof typeof scopeCatalog)[];

/**
 * Only the operator gives these to a client, when it creates the client: a holder creates money in the books of its tenant. A client with
 * one of them is protected too, but it does not decide about change requests, as the holders of `protectingScopes` do.
 */
export const operatorScopes = ["deposits:write"] as const satisfies readonly (keyof typeof scopeCatalog)[];

export type Scope = keyof typeof scopeCatalog;

export const allScopes = Object.keys(scopeCatalog) as Scope[];

/** What the first client of a tenant holds, and can grant to others. */
export const grantableScopes = allScopes.filter((scope) => !isOperatorScope(scope));

export function isOperatorScope(scope: Scope): boolean {
  return (operatorScopes as readonly Scope[]).includes(scope);
}

export function isScope(text: string): text is Scope {
  return Object.hasOwn(scopeCatalog, text);
}
