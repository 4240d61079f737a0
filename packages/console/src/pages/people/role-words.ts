import { scopeDescriptions } from "@bursar/client";

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
  return own ?? scopes.map((scope) => (scopeDescriptions[scope] ?? scope).replaceAll("`", "")).join(" ");
}
