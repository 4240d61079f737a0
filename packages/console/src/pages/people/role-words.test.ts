import { expect, it } from "vitest";
import { describeRole } from "./role-words";

it("a role is described in words, one of the tenant by its scopes", () => {
  expect(describeRole({ name: "approver", scopes: ["transactions:approve"] })).toContain(
    "approves or rejects",
  );
  const own = { name: "constructor", scopes: ["wallets:read", "wallets:freeze", "later:scope"] };
  expect(describeRole(own)).toBe("Read wallets and their balances. Freeze wallets. later:scope");
});
