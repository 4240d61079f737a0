import { fullBucket, msUntilTokens, type Quota, takeTokens, toRetryAfterSeconds } from "@bursar/domain";
import type { QuotaClass } from "@bursar/protocol";

/**
 * One client's quota for one class of requests, in this process: a slice of tokens that was reserved from the shared bucket ahead of
 * need. Every token comes from the shared bucket, so all processes together never admit more than it has granted. The tokens that a
 * process holds unused are at most a tenth of the burst.
 */
export interface Allowance {
  /** The value of `RateLimit-Policy`. */
  policy: () => string;
  /** The value of `RateLimit`. */
  state: (nowMs: number) => string;
  /**
   * Takes one token. 0 admits the request; any other number is the seconds to wait. The result is a promise only if the slice is
   * used up and the next one is being reserved.
   */
  take: (nowMs: number) => number | Promise<number>;
  /** The number of tokens to reserve from the shared bucket. */
  wanted: () => number;
  receive: (granted: number, remaining: number, nowMs: number) => void;
  /** Continues with this process's own copy of the bucket, because the shared one is unavailable. */
  continueLocally: (nowMs: number) => void;
  /** Gives up the tokens of an allowance that has been idle since then, and returns their number. */
  surrender: (idleSinceMs: number) => number;
  /** Whether it has been idle since then and holds no tokens. */
  isIdle: (idleSinceMs: number) => boolean;
  quota: () => Quota;
  retune: (quota: Quota) => void;
}

/** A slice grows if it is used up within this time, and shrinks if it lasts several times as long. */
const sliceLifeMs = 1000;
const sliceFirst = 10;
/** An empty shared bucket is queried ten times a second, and more often only if a slice of it fills sooner. */
const emptyPauseMaxMs = 100;

export function createAllowance(name: QuotaClass, first: Quota, requestTokens: () => void): Allowance {
  let quota = first;
  let policy = policyText(name, quota);
  let slice = Math.min(sliceFirst, sliceMaxOf(quota));
  let left = 0;
  let usedAtMs = 0;
  let reservedAtMs = Number.NEGATIVE_INFINITY;
  let isReserving = false;
  let emptyUntilMs = 0;
  let shared = fullBucket(quota, 0);
  const waiting: ((waitSeconds: number) => void)[] = [];
  let shown = { left: -1, seconds: -1, text: "" };

  function take(nowMs: number): number | Promise<number> {
    usedAtMs = nowMs;
    if (left > 0) {
      left -= 1;
      if (left <= slice / 2 && !isReserving && nowMs >= emptyUntilMs) reserve(nowMs);
      return 0;
    }
    if (!isReserving) {
      if (nowMs < emptyUntilMs) return toRetryAfterSeconds(emptyUntilMs - nowMs);
      reserve(nowMs);
    }
    return new Promise((resolve) => waiting.push(resolve));
  }

  function reserve(nowMs: number): void {
    const sinceMs = nowMs - reservedAtMs;
    if (sinceMs < sliceLifeMs) slice = Math.min(slice * 2, sliceMaxOf(quota));
    else if (sinceMs > 4 * sliceLifeMs) slice = Math.max(1, Math.ceil(slice / 2));
    reservedAtMs = nowMs;
    isReserving = true;
    requestTokens();
  }

  const wanted = () => Math.min(quota.burst, Math.max(1, slice - left) + waiting.length);

  function receive(granted: number, remaining: number, nowMs: number): void {
    isReserving = false;
    shared = { tokens: remaining, atMs: nowMs };
    if (remaining < 1)
      emptyUntilMs = nowMs + Math.max(emptyPauseMs(quota), msUntilTokens(quota, shared, nowMs, 1));
    left += granted;
    const served = waiting.splice(0, left);
    left -= served.length;
    for (const resolve of served) resolve(0);
    if (waiting.length === 0) return;
    if (nowMs >= emptyUntilMs) {
      reserve(nowMs);
      return;
    }
    for (const resolve of waiting.splice(0)) resolve(toRetryAfterSeconds(emptyUntilMs - nowMs));
  }

  /** The header value is reused while it stays the same, as it does for a client that is at its limit or far from it. */
  function state(nowMs: number): string {
    const isEmpty = left === 0 && nowMs < emptyUntilMs;
    const gained = ((nowMs - shared.atMs) * quota.perSecond) / 1000;
    const tokens = isEmpty ? 0 : Math.min(quota.burst, left + shared.tokens + gained);
    const seconds = isEmpty
      ? toRetryAfterSeconds(emptyUntilMs - nowMs)
      : Math.ceil((quota.burst - tokens) / quota.perSecond);
    const whole = Math.floor(tokens);
    if (shown.left !== whole || shown.seconds !== seconds)
      shown = { left: whole, seconds, text: `"${name}";r=${whole};t=${seconds}` };
    return shown.text;
  }

  return {
    policy: () => policy,
    state,
    take,
    wanted,
    receive,
    continueLocally: (nowMs) => {
      const { granted, bucket } = takeTokens(quota, shared, nowMs, wanted());
      receive(granted, bucket.tokens, nowMs);
    },
    surrender: (idleSinceMs) => {
      if (isReserving || usedAtMs > idleSinceMs) return 0;
      const unused = left;
      left = 0;
      return unused;
    },
    isIdle: (idleSinceMs) => !isReserving && left === 0 && usedAtMs <= idleSinceMs,
    quota: () => quota,
    retune: (changed) => {
      quota = changed;
      policy = policyText(name, quota);
      slice = Math.min(slice, sliceMaxOf(quota));
      left = Math.min(left, slice);
    },
  };
}

/** A process holds at most a tenth of the burst ahead of need. */
function sliceMaxOf({ burst }: Quota): number {
  return Math.max(1, Math.floor(burst / 10));
}

function emptyPauseMs(quota: Quota): number {
  return Math.min(emptyPauseMaxMs, (sliceMaxOf(quota) * 1000) / quota.perSecond);
}

/** The quota is the burst and the window is the time in which an empty bucket fills, so that the remaining quota never exceeds it. */
function policyText(name: QuotaClass, { perSecond, burst }: Quota): string {
  return `"${name}";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`;
}
