import { assert, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  accountKind,
  externalAccountId,
  feeAccountId,
  findExternalAccountCollision,
  marketClearingAccountId,
  mayBeNegative,
} from "./accounts.js";

describe("an account", () => {
  it("has a kind that follows from its id", () => {
    expect(accountKind(externalAccountId("book"))).toBe("external");
    expect(accountKind(externalAccountId("eip155:1"))).toBe("external");
    expect(accountKind(marketClearingAccountId)).toBe("market");
    expect(accountKind(feeAccountId)).toBe("fees");
    expect(accountKind("0191f7a0-0000-7000-8000-000000000001")).toBe("wallet");
    // The fee tenant's other wallets have fixed ids too.
    expect(accountKind("00000000-0000-8000-8000-0000000000a1")).toBe("wallet");
  });

  it("may be negative only if it is an external or a market account", () => {
    expect(mayBeNegative(externalAccountId("eip155:1"))).toBe(true);
    expect(mayBeNegative(marketClearingAccountId)).toBe(true);
    expect(mayBeNegative(feeAccountId)).toBe(false);
    expect(mayBeNegative("0191f7a0-0000-7000-8000-000000000001")).toBe(false);
  });
});

describe("the external account of a network", () => {
  // Ids are stored, so a different derivation would lose every balance.
  it("never changes its id", () => {
    expect(externalAccountId("book")).toBe("00000000-0000-8000-8000-000000000001");
    expect(externalAccountId("eip155:1")).toMatchInlineSnapshot(`"00000000-0000-8001-80c7-1490bc0a8a9e"`);
    expect(externalAccountId("eip155:8453")).toMatchInlineSnapshot(`"00000000-0000-8001-8017-38e8f272dec6"`);
  });

  it("is a UUID in the reserved range for any name", () =>
    assert(
      property(string(), (name) => {
        const id = externalAccountId(`n:${name}`);
        expect(id).toMatch(/^00000000-0000-8001-8[0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(accountKind(id)).toBe("external");
      }),
    ));

  it("differs between networks", () => {
    const networks = Array.from({ length: 1000 }, (_, index) => `eip155:${index}`);
    expect(new Set(networks.map(externalAccountId)).size).toBe(1000);
    expect(findExternalAccountCollision([...networks, "eip155:1"])).toBeUndefined();
  });
});
