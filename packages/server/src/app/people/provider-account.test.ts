import { describe, expect, it } from "vitest";
import { isSameAddress, withAccount, withoutAccount } from "./provider-account.js";

describe("the accounts of a person", () => {
  const person = { email: "ada@corp.example", role: "viewer" };
  const [old, recent] = [
    { issuer: "https://one.example", subject: "1" },
    { issuer: "https://two.example", subject: "1" },
  ] as const;

  it("are kept when the account is replaced by that of another issuer, and when it is removed", () => {
    const both = withAccount(withAccount(person, old), recent);
    expect(both).toEqual({ ...person, account: recent, formerAccounts: [old] });
    expect(withoutAccount(both)).toEqual({ ...person, formerAccounts: [old, recent] });
    expect(withAccount(withoutAccount(both), old)).toEqual({
      ...{ ...person, account: old, formerAccounts: [recent] },
    });
  });

  it("leave no trace if there are none, so that the MAC of a row from before stays valid", () => {
    expect(withoutAccount(person)).toEqual(person);
    expect(withAccount(withoutAccount(withAccount(person, old)), old)).toEqual({ ...person, account: old });
  });

  it("belong to addresses that are compared without regard to the case of ASCII letters only", () => {
    expect(isSameAddress("Kim@Corp.example", "kim@corp.example")).toBe(true);
    expect(isSameAddress("\u212aim@corp.example", "kim@corp.example")).toBe(false);
  });
});
