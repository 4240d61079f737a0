import { describe, expect, it } from "vitest";
import type { ClientKey } from "./client.js";
import { formerKeysAfter, formerKeysMax, heldKeysOf } from "./former-keys.js";

const at = (seconds: number) => new Date(seconds * 1000);
const textOf = (seconds: number) => at(seconds).toISOString();
const key = (byte: number, more: Partial<ClientKey> = {}): ClientKey => ({
  id: `key-${byte}`,
  algorithm: "ed25519",
  material: Buffer.alloc(32, byte),
  addedBy: null,
  expiresAt: null,
  lastUsedAt: null,
  createdAt: at(0),
  ...more,
});
const identity = (byte: number) => Buffer.alloc(32, byte).toString("hex");
const former = (byte: number, seconds: number) => ({ key: identity(byte), until: textOf(seconds) });

describe("the former keys of a client", () => {
  it("are those that were removed, with the last time of each, and no shared secrets", () => {
    expect(formerKeysAfter({ keys: [key(1)] }, [key(1), key(2)], at(5))).toBeUndefined();
    const secret = key(9, { algorithm: "hmac-sha256" });
    const first = formerKeysAfter({ keys: [key(1), key(2), secret] }, [key(2)], at(5));
    expect(first).toEqual([former(1, 5)]);
    expect(formerKeysAfter({ keys: [key(1)], formerKeys: first }, [], at(7))).toEqual([former(1, 7)]);
    expect(formerKeysAfter({ keys: [key(2)], formerKeys: first }, [], at(7))).toEqual([
      former(1, 5),
      former(2, 7),
    ]);
  });

  it("are also those that will expire, which end earlier if they are removed", () => {
    const brief = key(1, { expiresAt: at(60) });
    const formerKeys = formerKeysAfter({ keys: [] }, [brief], at(5));
    expect(formerKeys).toEqual([former(1, 60)]);
    expect(heldKeysOf({ keys: [], formerKeys })).toEqual([{ key: identity(1), untilMs: 60_000 }]);
    expect(formerKeysAfter({ keys: [brief], formerKeys }, [], at(7))).toEqual([former(1, 7)]);
    // Of a key that it has twice, the one that stays counts.
    const twin = key(1, { id: "twin", expiresAt: at(90) });
    expect(formerKeysAfter({ keys: [brief, twin], formerKeys }, [twin], at(7))).toEqual([former(1, 90)]);
  });

  it("are any key until the end of the last one that is forgotten, if there are too many", () => {
    let formerKeys = formerKeysAfter({ keys: [key(0)] }, [], at(0));
    for (let byte = 1; byte <= formerKeysMax + 4; byte += 1)
      formerKeys = formerKeysAfter({ keys: [key(byte)], formerKeys }, [], at(byte));
    expect(formerKeys).toHaveLength(formerKeysMax + 1);
    expect(formerKeys?.slice(0, 2)).toEqual([{ key: null, until: textOf(4) }, former(5, 5)]);
  });
});
