import { describe, expect, it } from "vitest";
import { canonicalCoseKey, publicKeyIdentity } from "./cose-key.js";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const [x, y] = ["11".repeat(32), "22".repeat(32)];
const p256 = hex(`a5 0102 0326 2001 215820${x} 225820${y}`);
const ed25519 = hex(`a4 0101 0327 2006 215820${x}`);
const modulus = `c1${"33".repeat(255)}`;
const rsaOf = (n: string, e: string) => {
  const bytes = (value: string) => `59${(value.length / 2).toString(16).padStart(4, "0")}${value}`;
  return hex(`a4 0103 03390100 20${bytes(n)} 21${e}`);
};
const rsa = rsaOf(modulus, "43010001");

describe("the public key of a passkey", () => {
  it.each([
    ["P-256", p256],
    ["Ed25519", ed25519],
    ["RSA", rsa],
  ])("of %s stays as an authenticator writes it", (_, key) => {
    expect(canonicalCoseKey(key)).toEqual(key);
  });

  it.each([
    ["in another order", `a5 0326 0102 225820${y} 215820${x} 2001`],
    ["with longer heads", `b805 180102 03380 6 2001 21590020${x} 225a00000020${y}`],
    ["with a further member", `a6 0102 0326 2001 215820${x} 225820${y} 0441aa`],
  ])("is the same %s", (_, text) => {
    expect(canonicalCoseKey(hex(text))).toEqual(p256);
    expect(publicKeyIdentity(hex(text))).toBe(publicKeyIdentity(p256));
  });

  it("of RSA is the same with zeros in front", () => {
    expect(canonicalCoseKey(rsaOf(`0000${modulus}`, "4400010001"))).toEqual(rsa);
  });

  it.each([
    ["an exponent that takes long to verify with", modulus, `590180${"7f".repeat(384)}`],
    ["an exponent that anybody can sign for", modulus, "4101"],
    ["another small exponent", modulus, "4103"],
    ["no exponent", modulus, "40"],
    ["an even modulus", `${modulus.slice(0, -2)}34`, "43010001"],
    ["a modulus of 2047 bits", `7f${modulus.slice(2)}`, "43010001"],
    ["a modulus of 4097 bits", `01${"33".repeat(512)}`, "43010001"],
    ["a modulus of one byte", "0f", "43010001"],
    ["no modulus", "", "43010001"],
  ])("of RSA is refused with %s", (_, n, e) => {
    expect(canonicalCoseKey(rsaOf(n, e))).toBeUndefined();
  });

  it("of RSA can have 4096 bits", () => {
    const key = rsaOf(`ff${"33".repeat(511)}`, "43010001");
    expect(canonicalCoseKey(key)).toEqual(key);
  });

  it("of Ed25519 is that of a program with the same key", () => {
    expect(publicKeyIdentity(ed25519)).toBe(publicKeyIdentity(hex(x)));
    expect(publicKeyIdentity(p256)).not.toBe(
      publicKeyIdentity(hex(`a5 0102 0326 2001 215820${y} 225820${x}`)),
    );
  });

  it.each([
    ["an algorithm of another type of key", `a5 0102 03390100 2001 215820${x} 225820${y}`],
    ["another curve", `a5 0102 0326 2002 215820${x} 225820${y}`],
    ["a coordinate with a zero in front", `a5 0102 0326 2001 21582100${x} 225820${y}`],
    ["a member twice", `a6 0102 0326 2001 215820${x} 225820${y} 225820${x}`],
    ["bytes behind it", `a5 0102 0326 2001 215820${x} 225820${y} 00`],
    ["an end that is missing", `a5 0102 0326 2001 215820${x} 225820${y.slice(2)}`],
    ["no length", `bf 0102 0326 2001 215820${x} 225820${y} ff`],
    ["nothing", ""],
  ])("is refused with %s", (_, text) => {
    expect(canonicalCoseKey(hex(text))).toBeUndefined();
    expect(publicKeyIdentity(hex(text))).toBe(hex(text).toString("hex"));
  });
});
