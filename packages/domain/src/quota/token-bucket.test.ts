import { array, assert, constantFrom, integer, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  fullBucket,
  msUntilTokens,
  type Quota,
  refillBucket,
  takeTokens,
  toRetryAfterSeconds,
} from "./token-bucket.js";

const quotas = record({
  perSecond: integer({ min: 1, max: 100_000 }),
  burst: integer({ min: 1, max: 100_000 }),
});
/** The gain between two calls is half of the burst here, and must be added to the fraction of a token that was left. */
const ampleQuotas = quotas.filter(({ burst }) => burst >= 2);
/** Clocks that begin with the process, and clocks that count from 1970. */
const beginnings = constantFrom(0, 1_800_000_000_000);
const steps = array(
  record({ pauseMs: integer({ min: 0, max: 5000 }), wanted: integer({ min: 1, max: 2000 }) }),
  { maxLength: 50 },
);

describe("a token bucket", () => {
  it("never grants more than its burst and its gain", () =>
    assert(
      property(quotas, beginnings, steps, (quota, beginMs, moves) => {
        let [nowMs, granted] = [beginMs, 0];
        let bucket = fullBucket(quota, nowMs);
        for (const { pauseMs, wanted } of moves) {
          nowMs += pauseMs;
          const taken = takeTokens(quota, bucket, nowMs, wanted);
          bucket = taken.bucket;
          granted += taken.granted;
          const allowed = quota.burst + ((nowMs - beginMs) * quota.perSecond) / 1000;
          expect(taken.granted).toBeLessThanOrEqual(wanted);
          expect(granted).toBeLessThanOrEqual(allowed + 1e-6);
        }
      }),
    ));

  it("grants all of it to a client that always wants more", () =>
    assert(
      property(ampleQuotas, beginnings, integer({ min: 1, max: 100 }), (quota, beginMs, seconds) => {
        let granted = 0;
        let bucket = fullBucket(quota, beginMs);
        // Called often enough that the bucket is never full.
        const stepMs = Math.min(1000, (quota.burst * 1000) / quota.perSecond / 2);
        const count = Math.min(2000, Math.floor((seconds * 1000) / stepMs));
        for (let step = 0; step <= count; step++) {
          const taken = takeTokens(quota, bucket, beginMs + step * stepMs, quota.burst);
          bucket = taken.bucket;
          granted += taken.granted;
        }
        const allowed = quota.burst + (count * stepMs * quota.perSecond) / 1000;
        // A time counted from 1970 is exact to a quarter of a microsecond.
        expect(granted).toBeGreaterThan(allowed - 1 - quota.perSecond * 1e-6 - 1e-6);
      }),
    ));

  it("has tokens again at the time that it predicts", () =>
    assert(
      property(quotas, beginnings, steps, (quota, beginMs, moves) => {
        let nowMs = beginMs;
        let bucket = fullBucket(quota, nowMs);
        for (const { pauseMs, wanted } of moves) {
          nowMs += pauseMs;
          bucket = takeTokens(quota, bucket, nowMs, wanted).bucket;
          const waitMs = msUntilTokens(quota, bucket, nowMs, 1);
          const backMs = nowMs + toRetryAfterSeconds(waitMs) * 1000;
          expect(takeTokens(quota, bucket, nowMs + waitMs, 1).granted).toBe(1);
          expect(takeTokens(quota, bucket, backMs, 1).granted).toBe(1);
          // The prediction is not too late either: slightly earlier the bucket had fewer tokens.
          if (waitMs > 3) expect(refillBucket(quota, bucket, nowMs + waitMs - 2).tokens).toBeLessThan(1);
        }
      }),
    ));

  it("takes returned tokens, and never holds more than its burst", () =>
    assert(
      property(quotas, integer({ min: 1, max: 2000 }), (quota, wanted) => {
        const taken = takeTokens(quota, fullBucket(quota, 0), 0, wanted);
        expect(takeTokens(quota, taken.bucket, 0, -taken.granted).bucket.tokens).toBe(quota.burst);
        expect(takeTokens(quota, fullBucket(quota, 0), 0, -wanted).bucket.tokens).toBe(quota.burst);
      }),
    ));

  it("is never deeper in debt than its burst, or 1000 tokens, whatever is owed or was stored", () =>
    assert(
      property(quotas, integer({ min: 0, max: Number.MAX_SAFE_INTEGER }), (quota, owed) => {
        const debtMax = Math.max(quota.burst, 1000);
        const charged = takeTokens(quota, fullBucket(quota, 0), 0, 1, owed).bucket;
        expect(charged.tokens).toBeGreaterThanOrEqual(-debtMax);
        const stored = { tokens: -owed, atMs: 0 };
        const repaidMs = ((debtMax + 1) * 1000) / quota.perSecond + 1;
        expect(msUntilTokens(quota, stored, 0, 1)).toBeLessThanOrEqual(repaidMs);
        expect(takeTokens(quota, stored, repaidMs, 1).granted).toBe(1);
      }),
    ));

  it("gains nothing from a clock that is set back", () => {
    const quota: Quota = { perSecond: 10, burst: 5 };
    const empty = takeTokens(quota, fullBucket(quota, 1000), 1000, 5).bucket;
    expect(takeTokens(quota, empty, 0, 1).granted).toBe(0);
    expect(refillBucket(quota, empty, 0).tokens).toBe(0);
  });

  it.each([
    [0, 1],
    [1, 1],
    [1000, 1],
    [1001, 2],
    [59_999, 60],
  ])("rounds a wait of %d ms up to %d s", (waitMs, seconds) => {
    expect(toRetryAfterSeconds(waitMs)).toBe(seconds);
  });
});
