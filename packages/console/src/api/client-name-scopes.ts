/** Those who have none of these may not read names. The service has the same list. */
export const clientNameScopes: readonly string[] = [
  "transactions:read",
  "transactions:approve",
  "wallets:read",
  "orders:read",
  "events:read",
  "policies:read",
  "audit:read",
  "clients:manage",
];
