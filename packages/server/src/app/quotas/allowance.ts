import { fullBucket, msUntilTokens, type Quota, takeTokens, toRetryAfterSeconds } from "@bursar/domain";
import type { QuotaClass } from "@bursar/protocol";

/**
 * One client's quota for one class of requests, as this process sees it: a slice of tokens that was taken from the shared bucket
 * ahead of need. As every token was taken there first, all processes together never let in more than the bucket has given; what a
 * process holds unused is at most a tenth of the burst.
 */
export interface Allowance {
  /** The value of `RateLimit-Policy`. */
  policy: () => string;
  /** The value of `RateLimit`. */
  state: (nowMs: number) => string;
  /**
   * Takes one token. 0 lets the request in; anything else is how many seconds to wait. A promise only where the slice is used up
   * and the next one is on its way.
   */
  take: (nowMs: number) => number | Promise<number>;
  /** How many tokens to take from the shared bucket. */
  wanted: () => number;
  receive: (granted: number, remaining: number, nowMs: number) => void;
  /** The shared bucket cannot be asked: goes on with what was known of it, by this process's own arithmetic. */
  carryOn: (nowMs: number) => void;
  /** What has not been used since, to be given back; 0 where there is nothing. */
  surrender: (idleSinceMs: number) => number;
  /** Whether nothing was asked of it since, and nothing is held. */
  isIdle: (idleSinceMs: number) => boolean;
  quota: () => Quota;
  retune: (quota: Quota) => void;
}

/** A slice grows where it is used up within this time, and shrinks where it lasts several times as long. */
const sliceLifeMs = 1000;
const sliceFirst = 10;
/** A shared bucket that is dry is asked ten times a second, and more often only where a slice of it fills sooner. */
const dryPauseMaxMs = 100;

export function createAllowance(name: QuotaClass, first: Quota, ask: () => void): Allowance {
  let quota = first;
  let policy = policyText(name, quota);
  let slice = Math.min(sliceFirst, sliceMaxOf(quota));
  let left = 0;
  let usedAtMs = 0;
  let askedAtMs = Number.NEGATIVE_INFINITY;
  let isAsking = false;
  let dryUntilMs = 0;
  let shared = fullBucket(quota, 0);
  const waiting: ((waitSeconds: number) => void)[] = [];
  let shown = { left: -1, seconds: -1, text: "" };

  function take(nowMs: number): number | Promise<number> {
    usedAtMs = nowMs;
    if (left > 0) {
      left -= 1;
      if (left <= slice / 2 && !isAsking && nowMs >= dryUntilMs) askFor(nowMs);
      return 0;
    }
    if (!isAsking) {
      if (nowMs < dryUntilMs) return toRetryAfterSeconds(dryUntilMs - nowMs);
      askFor(nowMs);
    }
    return new Promise((resolve) => waiting.push(resolve));
  }

  function askFor(nowMs: number): void {
    const sinceMs = nowMs - askedAtMs;
    if (sinceMs < sliceLifeMs) slice = Math.min(slice * 2, sliceMaxOf(quota));
    else if (sinceMs > 4 * sliceLifeMs) slice = Math.max(1, Math.ceil(slice / 2));
    askedAtMs = nowMs;
    isAsking = true;
    ask();
  }

  const wanted = () => Math.min(quota.burst, Math.max(1, slice - left) + waiting.length);

  function receive(granted: number, remaining: number, nowMs: number): void {
    isAsking = false;
    shared = { tokens: remaining, atMs: nowMs };
    if (remaining < 1)
      dryUntilMs = nowMs + Math.max(dryPauseMs(quota), msUntilTokens(quota, shared, nowMs, 1));
    left += granted;
    const served = waiting.splice(0, left);
    left -= served.length;
    for (const resolve of served) resolve(0);
    if (waiting.length === 0) return;
    if (nowMs >= dryUntilMs) {
      askFor(nowMs);
      return;
    }
    for (const resolve of waiting.splice(0)) resolve(toRetryAfterSeconds(dryUntilMs - nowMs));
  }

  /** The text is kept while it stays the same, as it does for a client that is at its limit or far from it. */
  function state(nowMs: number): string {
    const isDry = left === 0 && nowMs < dryUntilMs;
    const gained = ((nowMs - shared.atMs) * quota.perSecond) / 1000;
    const tokens = isDry ? 0 : Math.min(quota.burst, left + shared.tokens + gained);
    const seconds = isDry
      ? toRetryAfterSeconds(dryUntilMs - nowMs)
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
    carryOn: (nowMs) => {
      const { granted, bucket } = takeTokens(quota, shared, nowMs, wanted());
      receive(granted, bucket.tokens, nowMs);
    },
    surrender: (idleSinceMs) => {
      if (isAsking || usedAtMs > idleSinceMs) return 0;
      const unused = left;
      left = 0;
      return unused;
    },
    isIdle: (idleSinceMs) => !isAsking && left === 0 && usedAtMs <= idleSinceMs,
    quota: () => quota,
    retune: (changed) => {
      quota = changed;
      policy = policyText(name, quota);
      slice = Math.min(slice, sliceMaxOf(quota));
      left = Math.min(left, slice);
    },
  };
}

/** What a process may hold ahead of need: a tenth of the burst. */
function sliceMaxOf({ burst }: Quota): number {
  return Math.max(1, Math.floor(burst / 10));
}

function dryPauseMs(quota: Quota): number {
  return Math.min(dryPauseMaxMs, (sliceMaxOf(quota) * 1000) / quota.perSecond);
}

/** The quota is the burst, and the window the time in which an empty bucket fills: then what is left is never more than the quota. */
function policyText(name: QuotaClass, { perSecond, burst }: Quota): string {
  return `"${name}";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`;
}
