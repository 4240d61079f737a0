import { describe, expect, it } from "vitest";
import type { IntegrityKeys } from "../access/integrity-keys.js";
import { hashSecret, matchSecret, newSecret } from "./client-secret.js";

const keysOf = (currentId: string): IntegrityKeys => ({
  currentId,
  derive: (label, keyId) => Buffer.from(`${label} ${keyId}`),
});
const keys = keysOf("one");
const stored = (text: string, expiresAt: Date | null = null, by = keys) => ({
  id: text,
  ...hashSecret(by, text),
  addedBy: null,
  createdAt: new Date(0),
  lastUsedAt: null,
  expiresAt,
});

describe("client secrets", () => {
  it("have 256 random bits behind their prefix", () => {
    expect(newSecret((count) => new Uint8Array(count).fill(255))).toBe(`bsk_${"_".repeat(42)}8`);
  });

  it("match any of the live ones, and no other", () => {
    const secrets = [stored("old", new Date(1000)), stored("new")];
    expect(matchSecret(keys, secrets, "old", 999)).toBe("old");
    expect(matchSecret(keys, secrets, "old", 1000)).toBeUndefined();
    expect(matchSecret(keys, secrets, "new", 1000)).toBe("new");
    expect(matchSecret(keys, secrets, "other", 0)).toBeUndefined();
    expect(matchSecret(keys, [], "new", 0)).toBeUndefined();
  });

  it("match with the key that their hash was made with", () => {
    expect(matchSecret(keysOf("two"), [stored("old")], "old", 0)).toBe("old");
    expect(matchSecret(keys, [{ ...stored("old"), keyId: "two" }], "old", 0)).toBeUndefined();
  });
});
