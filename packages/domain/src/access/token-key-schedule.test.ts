import { array, assert, integer, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { scheduleKeys } from "./token-key-schedule.js";

const lifetimeMs = 900;
const at = (nowMs: number) => {
  const { signing, published, retired } = scheduleKeys(
    [{ activeFromMs: 100 }, { activeFromMs: 1000 }],
    nowMs,
    lifetimeMs,
  );
  return [
    signing?.activeFromMs,
    published.map((key) => key.activeFromMs),
    retired.map((key) => key.activeFromMs),
  ];
};

describe("the schedule of token keys", () => {
  it.each([
    ["has no signing key before any is active", 50, [undefined, [100, 1000], []]],
    ["publishes the next key before it signs", 500, [100, [100, 1000], []]],
    ["switches to the next key on time", 1000, [1000, [100, 1000], []]],
    ["keeps the old key while its last token is valid", 1899, [1000, [100, 1000], []]],
    ["retires the old key afterwards", 1900, [1000, [1000], [100]]],
  ])("%s", (_what, nowMs, expected) => {
    expect(at(nowMs)).toEqual(expected);
  });

  it("verifies every token for its whole lifetime", () =>
    assert(
      property(
        array(integer({ min: 0, max: 5000 }), { minLength: 1 }),
        integer({ min: 0, max: 9000 }),
        integer({ min: 0, max: 899 }),
        (starts, signedAtMs, ageMs) => {
          const keys = starts.map((activeFromMs) => ({ activeFromMs }));
          const { signing } = scheduleKeys(keys, signedAtMs, lifetimeMs);
          return (
            signing === undefined ||
            scheduleKeys(keys, signedAtMs + ageMs, lifetimeMs).published.includes(signing)
          );
        },
      ),
    ));
});
