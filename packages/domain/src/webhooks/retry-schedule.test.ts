import { describe, expect, it } from "vitest";
import { attemptDelaysMs, delayAfter, readRetryAfterMs } from "./retry-schedule.js";

const delayOf = (number: number, random: number, retryAfterMs?: number) =>
  delayAfter({ number, retryAfterMs }, attemptDelaysMs, random);

describe("the schedule of attempts", () => {
  it("has ten attempts, and none after the last", () => {
    const delays = attemptDelaysMs.map((_, index) => delayOf(index + 1, 0.5));
    expect(delays).toEqual([...attemptDelaysMs.slice(1), undefined]);
  });

  it("spreads each delay by a fifth to either side", () => {
    expect([0, 0.5, 1].map((random) => delayOf(1, random))).toEqual([4000, 5000, 6000]);
  });

  it.each([
    [60_000, 60_000],
    [1000, 5000],
    [172_800_000, 86_400_000],
  ])("with a Retry-After of %i ms waits %i ms", (requested, waited) => {
    expect(delayOf(1, 0.5, requested)).toBe(waited);
  });

  it("does not get more attempts because of Retry-After", () => {
    expect(delayOf(10, 0.5, 60_000)).toBeUndefined();
  });
});

describe("Retry-After", () => {
  const nowMs = Date.parse("2026-01-01T00:00:00Z");
  it.each([
    ["120", 120_000],
    ["0", 0],
    ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
    ["Wed, 31 Dec 2025 23:00:00 GMT", 0],
    ["soon", undefined],
    ["-5", undefined],
    ["2026-01-01", undefined],
    ["9999999999", 9_999_999_999_000],
    [undefined, undefined],
  ])("%j is %j ms", (text, expected) => {
    expect(readRetryAfterMs(text, nowMs)).toBe(expected);
  });
});
