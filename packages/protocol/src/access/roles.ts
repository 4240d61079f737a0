import type { Scope } from "./scopes.js";

const viewer = [
  "wallets:read",
  "transactions:read",
  "orderbook:read",
  "orders:read",
  "events:read",
  "policies:read",
] as const satisfies readonly Scope[];

const operating = [
  "wallets:write",
  "wallets:freeze",
  "wallets:unfreeze",
  "transactions:write",
  "orders:write",
  "system:manage",
] as const satisfies readonly Scope[];

/**
 * The roles that every tenant has. None has both `transactions:approve` and `policies:manage`: a person who approves payments does not
 * decide which payments need approval.
 */
export const builtInRoles = {
  viewer,
  auditor: [...viewer, "audit:read"],
  operator: [...viewer, ...operating],
  approver: [...viewer, "transactions:approve"],
  developer: [...viewer, "webhooks:manage"],
  admin: [
    ...viewer,
    ...operating,
    "audit:read",
    "webhooks:manage",
    "clients:manage",
    "policies:manage",
    "destinations:manage",
  ],
} as const satisfies Readonly<Record<string, readonly Scope[]>>;

type BuiltInRole = keyof typeof builtInRoles;

export function isBuiltInRole(name: string): name is BuiltInRole {
  return Object.hasOwn(builtInRoles, name);
}
