import { describe, expect, it } from "vitest";
import { hashSecret, matchesSecret, newSecret } from "./client-secret.js";

const stored = (text: string, expiresAt: Date | null = null) => ({
  id: text,
  hash: hashSecret(text),
  addedBy: null,
  createdAt: new Date(0),
  expiresAt,
});

describe("client secrets", () => {
  it("have 256 random bits behind their prefix", () => {
    expect(newSecret((count) => new Uint8Array(count).fill(255))).toBe(`bsk_${"_".repeat(42)}8`);
  });

  it("match any of the live ones, and no other", () => {
    const secrets = [stored("old", new Date(1000)), stored("new")];
    expect(matchesSecret(secrets, "old", 999)).toBe(true);
    expect(matchesSecret(secrets, "old", 1000)).toBe(false);
    expect(matchesSecret(secrets, "new", 1000)).toBe(true);
    expect(matchesSecret(secrets, "other", 0)).toBe(false);
    expect(matchesSecret([], "new", 0)).toBe(false);
  });
});
