import { showId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { readSignedBase } from "./read-signed-base.js";

const tenantId = "0190b8f0-0000-7000-8000-000000000001";
const own = showId("tnt", tenantId);
const another = showId("tnt", tenantId.replace("1", "2"));
const part = (content: object) => Buffer.from(JSON.stringify(content)).toString("base64url");
const token = (claims: object) => `${part({ alg: "EdDSA", typ: "at+jwt" })}.${part(claims)}.c2ln`;
const read = (...lines: string[]) => readSignedBase(tenantId, Buffer.from(lines.join("\n")));

describe("a signature base", () => {
  it("can be shown when the last of its tokens has expired, in any line", () => {
    const base = read(
      '"@method": POST',
      `"authorization": Bearer ${token({ exp: 1000, tenant_id: own })}`,
      `"x-copy": ${token({ exp: 1800, tenant_id: own })}`,
    );
    expect(base?.tokenExpiresAt).toEqual(new Date(1_800_000));
  });

  it.each([
    ["another tenant's token", { exp: 1200, tenant_id: another }, 1200],
    ["a JWT of another service", { exp: 1200 }, 1200],
    ["a JWT without an end", { tenant_id: own }, 1000],
    ["a token that has expired before", { exp: -1e300, tenant_id: own }, 1000],
    ["a token of the year 9999", { exp: 253_402_300_799, tenant_id: own }, 1900],
    ["a time that no date can hold", { exp: 1e300, tenant_id: another }, 1900],
  ])("is neither refused nor hidden for good with %s in another line", (_, claims, shownAtSeconds) => {
    const base = read(
      `"x-copy": ${token(claims)}`,
      `"authorization": Bearer ${token({ exp: 1000, tenant_id: own })}`,
    );
    expect(base?.tokenExpiresAt).toEqual(new Date(shownAtSeconds * 1000));
  });

  it("can be shown at once if it contains no token, as that of a passkey", () => {
    const base = `{"client_data":"${part({ type: "webauthn.get" })}"}`;
    expect(read(base)).toEqual({ text: base, tokenExpiresAt: null });
  });

  it.each([
    ["another tenant's", token({ exp: 1000, tenant_id: another })],
    ["one that is not known", "something"],
    ["a JWT of another kind", token({ exp: 1000 })],
    ["a token without an end", token({ tenant_id: own })],
  ])("is refused with %s as its credential", (_, credential) => {
    expect(read(`"authorization": Bearer ${credential}`)).toBeUndefined();
  });

  it("is searched in linear time", () => {
    const startedMs = performance.now();
    read("-eyJ".repeat(16_000), "eyJ.".repeat(16_000));
    expect(performance.now() - startedMs).toBeLessThan(500);
  });
});
