import { describe, expect, it } from "vitest";
import { builtInRoles } from "./roles.js";
import { isOperatorScope, type Scope } from "./scopes.js";

describe("the built-in roles", () => {
  const roles = Object.entries(builtInRoles) as [string, readonly Scope[]][];

  it("are the six that the documentation names", () => {
    expect(roles.map(([name]) => name)).toEqual([
      "viewer",
      "auditor",
      "operator",
      "approver",
      "developer",
      "admin",
    ]);
  });

  it.each(roles)("%s does not both approve payments and decide which need approval", (_name, scopes) => {
    expect(
      ["transactions:approve", "policies:manage"].every((scope) => scopes.includes(scope as Scope)),
    ).toBe(false);
  });

  it.each(roles)("%s has no scope twice, and none that only the operator grants", (_name, scopes) => {
    expect(new Set(scopes).size).toBe(scopes.length);
    expect(scopes.filter(isOperatorScope)).toEqual([]);
  });
});
