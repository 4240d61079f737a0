import { describe, expect, it } from "vitest";
import type { IntegrityKeys } from "../access/integrity-keys.js";
import type { AuditDraft } from "./audit-entry.js";
import { chainHash, chainStart, isPositionAuthentic, positionMac, unkeyedHash } from "./chain-hash.js";

const keys: IntegrityKeys = {
  currentId: "one",
  derive: (label, keyId) => (keyId === "three" ? undefined : Buffer.from(`${label} ${keyId}`)),
};
const entry: AuditDraft = {
  tenantId: "t",
  occurredAt: new Date(0),
  actor: "client",
  clientId: "c",
  tokenId: null,
  action: "client.create",
  object: "o",
  outcome: "succeeded",
  code: null,
  repeated: 1,
  requestId: "r",
  address: null,
};

describe("the hash of an entry", () => {
  const hash = (draft: AuditDraft, keyId = "one") => chainHash(keys, keyId, chainStart, 1n, draft);

  it("is the same when it is written and when it is read, with null for missing fields", () => {
    const written = { ...entry, address: undefined, tokenId: undefined } as unknown as AuditDraft;
    expect(hash(written)).toEqual(hash(entry));
    expect(hash({ ...entry, address: "a" })).not.toEqual(hash(entry));
  });

  it("depends on the key, and is unknown without it", () => {
    expect(hash(entry, "two")).not.toEqual(hash(entry));
    expect(hash(entry, "three")).toBeUndefined();
  });

  it("from before the chain was keyed is still computed as it was", () => {
    expect(Buffer.from(unkeyedHash(chainStart, 1n, entry)).toString("hex")).toBe(
      "d0586bfdf1645d60ba0f921413872b8398a5c99e5fde42ee1e185763caec068c",
    );
  });
});

describe("the MAC of a position", () => {
  const head = { tenantId: "t", number: 7n, hash: chainStart };

  it("holds for that position and that kind only", () => {
    const mac = positionMac(keys, "head", head);
    expect(isPositionAuthentic(keys, "head", { ...head, ...mac })).toBe(true);
    expect(isPositionAuthentic(keys, "base", { ...head, ...mac })).toBe(false);
    expect(isPositionAuthentic(keys, "head", { ...head, number: 6n, ...mac })).toBe(false);
    expect(isPositionAuthentic(keys, "head", { ...head, tenantId: "u", ...mac })).toBe(false);
    expect(isPositionAuthentic(keys, "head", { ...head, ...mac, keyId: "three" })).toBe(false);
    expect(isPositionAuthentic(keys, "head", { ...head, keyId: null, mac: null })).toBe(false);
  });
});
