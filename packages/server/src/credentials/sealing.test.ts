import { createCipheriv, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createKeyring } from "./keyring.js";
import { createSealing } from "./sealing.js";

describe("sealing", () => {
  const key = randomBytes(32);
  const sealing = createSealing(createKeyring([key]));
  const secret = Buffer.from("a secret");

  it("decrypts what it has encrypted, and never produces the same ciphertext twice", () => {
    const sealed = sealing.seal("row 1", secret);
    expect(sealing.open("row 1", sealed)).toEqual(secret);
    expect(Buffer.from(sealed).includes(secret)).toBe(false);
    expect(sealing.seal("row 1", secret)).not.toEqual(sealed);
  });

  it("does not decrypt with another key or for another row", () => {
    const sealed = sealing.seal("row 1", secret);
    expect(createSealing(createKeyring([randomBytes(32)])).open("row 1", sealed)).toBeUndefined();
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
    expect(sealing.open("row 1", new Uint8Array())).toBeUndefined();
  });

  it("decrypts with an older key of the list, and names the key that it encrypts with", () => {
    const newer = createSealing(createKeyring([randomBytes(32), key]));
    const sealed = sealing.seal("row 1", secret);
    expect(newer.open("row 1", sealed)).toEqual(secret);
    expect([sealing.isCurrent(sealed), newer.isCurrent(sealed)]).toEqual([true, false]);
    const resealed = newer.seal("row 1", secret);
    expect([newer.isCurrent(resealed), sealing.open("row 1", resealed)]).toEqual([true, undefined]);
  });

  it("decrypts what was encrypted before seals named their key, with any key of the list", () => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from("row 1"));
    const body = Buffer.concat([cipher.update(secret), cipher.final()]);
    const old = Buffer.concat([Uint8Array.of(1), nonce, cipher.getAuthTag(), body]);
    expect(sealing.open("row 1", old)).toEqual(secret);
    expect(sealing.isCurrent(old)).toBe(false);
    expect(createSealing(createKeyring([randomBytes(32), key])).open("row 1", old)).toEqual(secret);
    expect(sealing.open("row 2", old)).toBeUndefined();
  });
});

describe("a keyring", () => {
  it("derives a key for each purpose and master key, the same in every process", () => {
    const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const ring = createKeyring([two, one]);
    expect(ring.current.id).toMatch(/^[0-9a-f]{16}$/);
    expect(ring.derive("a")).toEqual(createKeyring([two]).derive("a"));
    expect(ring.derive("a", createKeyring([one]).current.id)).toEqual(createKeyring([one]).derive("a"));
    expect(ring.derive("a")).not.toEqual(ring.derive("b"));
    expect(ring.derive("a", "0000000000000000")).toBeUndefined();
    expect(ring.all.map(({ id }) => ring.byId(id)?.id)).toEqual(ring.all.map(({ id }) => id));
  });
});
