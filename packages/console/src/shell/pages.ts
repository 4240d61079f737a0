/** The pages in the order of the menu. A page is shown to those who have one of its scopes, and the one that it needs besides; the service checks every request all the same. */
export const pages = [
  { path: "/", title: "Overview", keys: "g o", scopes: ["transactions:read", "wallets:read"] },
  { path: "/transactions", title: "Transactions", keys: "g t", scopes: ["transactions:read"] },
  {
    path: "/approvals",
    title: "Approvals",
    keys: "g a",
    scopes: ["transactions:approve", "transactions:write"],
    needs: "transactions:read",
  },
  { path: "/wallets", title: "Wallets", keys: "g w", scopes: ["wallets:read"] },
  { path: "/destinations", title: "Destinations", keys: "g d", scopes: ["policies:read"] },
  {
    path: "/change-requests",
    title: "Change requests",
    keys: "g c",
    scopes: ["transactions:approve", "policies:manage", "destinations:manage", "clients:manage"],
  },
  { path: "/policy", title: "Policy", keys: "g p", scopes: ["policies:read"] },
  { path: "/markets", title: "Markets", keys: "g m", scopes: ["orderbook:read"] },
  { path: "/orders", title: "Orders", keys: "g b", scopes: ["orders:read"] },
  { path: "/networks", title: "Networks", keys: "g n", scopes: ["wallets:read"] },
  { path: "/webhooks", title: "Webhooks", keys: "g h", scopes: ["webhooks:manage"] },
  { path: "/events", title: "Events", keys: "g e", scopes: ["events:read"] },
  { path: "/audit", title: "Audit", keys: "g u", scopes: ["audit:read"] },
  { path: "/people", title: "People", keys: "g i", scopes: ["clients:manage"] },
  { path: "/roles", title: "Roles", keys: "g r", scopes: ["clients:manage"] },
  { path: "/clients", title: "Clients", keys: "g l", scopes: ["clients:manage"] },
  { path: "/system", title: "System", keys: "g s", scopes: ["system:manage"] },
] as const;

export function mayOpen(
  scopes: readonly string[],
  page: { scopes: readonly string[]; needs?: string },
): boolean {
  if (page.needs !== undefined && !scopes.includes(page.needs)) return false;
  return page.scopes.some((scope) => scopes.includes(scope));
}
