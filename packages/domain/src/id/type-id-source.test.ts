import { assert, integer, property, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { uuidFromTypeId } from "./type-id.js";
import { createTypeIdSource } from "./type-id-source.js";
import { timeOfUuidV7 } from "./uuid-v7.js";

describe("a source of TypeIDs", () => {
  it("has the time, version and variant of a version 7 UUID for any random bytes", () =>
    assert(
      property(
        integer({ min: 0, max: 2 ** 48 - 1 }),
        uint8Array({ minLength: 16, maxLength: 16 }),
        (ms, random) => {
          const next = createTypeIdSource("req", {
            now: () => ms,
            randomBytes: (count) => Uint8Array.from({ length: count }, (_, index) => random[index % 16] ?? 0),
          });
          const uuid = uuidFromTypeId("req", next()) ?? "";
          expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
          expect(timeOfUuidV7(uuid)).toBe(ms);
        },
      ),
    ));

  it("uses 74 random bits and each byte of randomness once", () => {
    const filled = (byte: number) =>
      createTypeIdSource("req", {
        now: () => 0,
        randomBytes: (count) => new Uint8Array(count).fill(byte),
      })();
    expect(filled(0x00)).toBe("req_0000000000e008000000000000");
    expect(filled(0xff)).toBe("req_0000000000fzzvzzzzzzzzzzzz");
    let byte = 0;
    const next = createTypeIdSource("req", {
      now: () => 0,
      randomBytes: (count) => Uint8Array.from({ length: count }, () => byte++ >> 4),
    });
    const suffixes = Array.from({ length: 32 }, () => next().slice(-12));
    expect(new Set(suffixes).size).toBe(32);
  });

  it("updates the time when it has changed", () => {
    const times = [5, 5, 6];
    const next = createTypeIdSource("req", {
      now: () => times.shift() ?? 0,
      randomBytes: (count) => new Uint8Array(count),
    });
    expect([next(), next(), next()].map((id) => id.slice(4, 14))).toEqual([
      "0000000005",
      "0000000005",
      "0000000006",
    ]);
  });
});
