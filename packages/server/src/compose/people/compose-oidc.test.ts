import { describe, expect, it } from "vitest";
import { readRow } from "./compose-oidc.js";

describe("the roles of an OpenID provider", () => {
  const row = (role: string) => ({ value: "treasury", tenant: "tnt_01m4av5hxmf1n9pw9nyjc62m5a", role });

  it("are built-in ones: what a role of the tenant means is up to its clients", () => {
    expect(readRow(row("operator"))).toMatchObject({ value: "treasury", role: "operator" });
    for (const role of ["treasurer", "operator2", "constructor"])
      expect(() => readRow(row(role))).toThrow(`oidc_roles has the role ${role}.`);
  });
});
