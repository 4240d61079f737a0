import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createSealing } from "./sealing.js";

describe("sealing", () => {
  const sealing = createSealing(randomBytes(32));
  const secret = Buffer.from("a secret");

  it("decrypts what it has encrypted, and never produces the same ciphertext twice", () => {
    const sealed = sealing.seal("row 1", secret);
    expect(sealing.open("row 1", sealed)).toEqual(secret);
    expect(Buffer.from(sealed).includes(secret)).toBe(false);
    expect(sealing.seal("row 1", secret)).not.toEqual(sealed);
  });

  it("does not decrypt with another key or for another row", () => {
    const sealed = sealing.seal("row 1", secret);
    expect(createSealing(randomBytes(32)).open("row 1", sealed)).toBeUndefined();
    expect(sealing.open("row 2", sealed)).toBeUndefined();
  });

  it("does not decrypt a ciphertext with a changed byte", () => {
    const sealed = sealing.seal("row 1", secret);
    for (let index = 0; index < sealed.length; index++) {
      const changed = Uint8Array.from(sealed);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(sealing.open("row 1", changed)).toBeUndefined();
    }
    expect(sealing.open("row 1", sealed.subarray(0, 10))).toBeUndefined();
  });
});
