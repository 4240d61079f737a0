import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isEd25519PublicKey } from "./ed25519-point.js";

/** The encodings of the eight points of small order, and the non-canonical encodings of some of them. */
const smallOrder = [
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000080",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  "0100000000000000000000000000000000000000000000000000000000000080",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
];

describe("an Ed25519 public key", () => {
  it("is accepted if it was generated", () => {
    for (let count = 0; count < 50; count++) {
      const { x } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
      expect(isEd25519PublicKey(Buffer.from(x ?? "", "base64url"))).toBe(true);
    }
  });

  it.each(smallOrder)("is refused if it is a point of small order: %s", (hex) => {
    expect(isEd25519PublicKey(Buffer.from(hex, "hex"))).toBe(false);
  });

  it("of small order verifies a forged signature in OpenSSL", () => {
    const identity = Buffer.from(smallOrder[0] as string, "hex");
    const key = createPublicKey({
      key: { kty: "OKP", crv: "Ed25519", x: identity.toString("base64url") },
      format: "jwk",
    });
    expect(verify(null, Buffer.from("anything"), key, Buffer.concat([identity, Buffer.alloc(32)]))).toBe(
      true,
    );
  });

  it("is refused if it is not a point of the curve or has another length", () => {
    const two = Buffer.alloc(32);
    two[0] = 2;
    expect(isEd25519PublicKey(two)).toBe(false);
    expect(isEd25519PublicKey(Buffer.alloc(31, 7))).toBe(false);
    expect(isEd25519PublicKey(Buffer.alloc(33, 7))).toBe(false);
  });
});
