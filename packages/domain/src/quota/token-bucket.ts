/**
 * Token buckets. A bucket holds up to `burst` tokens and gains `perSecond` of them each second; a request takes one. Nothing here
 * has a clock: the time is passed in, in milliseconds, and one that goes back only means that nothing has been gained.
 */
export interface Quota {
  perSecond: number;
  burst: number;
}

/** What a quota may be, in the configuration and for a client. */
export const quotaLimits = { perSecondMax: 1_000_000, burstMax: 10_000_000 } as const;

/** What was in a bucket, and when. */
export interface TokenBucket {
  tokens: number;
  atMs: number;
}

export function fullBucket({ burst }: Quota, nowMs: number): TokenBucket {
  return { tokens: burst, atMs: nowMs };
}

/** The bucket as it is now. */
export function refillBucket(quota: Quota, { tokens, atMs }: TokenBucket, nowMs: number): TokenBucket {
  const gained = (Math.max(0, nowMs - atMs) * quota.perSecond) / 1000;
  return { tokens: Math.min(quota.burst, tokens + gained), atMs: nowMs };
}

/** Takes as many whole tokens as there are, and no more than are wanted. A negative count gives back what was not used. */
export function takeTokens(
  quota: Quota,
  bucket: TokenBucket,
  nowMs: number,
  wanted: number,
): { granted: number; bucket: TokenBucket } {
  const { tokens } = refillBucket(quota, bucket, nowMs);
  const granted = Math.min(wanted, Math.floor(tokens));
  return { granted, bucket: { tokens: Math.min(quota.burst, tokens - granted), atMs: nowMs } };
}

/**
 * How long it takes until the bucket holds this many tokens, if nobody takes any. A little longer than the exact time, so that
 * whoever comes back then is not refused for a rounding error.
 */
export function msUntilTokens(quota: Quota, bucket: TokenBucket, nowMs: number, count: number): number {
  const missing = Math.min(count, quota.burst) - refillBucket(quota, bucket, nowMs).tokens;
  return missing <= 0 ? 0 : (missing * 1000) / quota.perSecond + marginMs;
}

const marginMs = 1;

/** `Retry-After` has whole seconds. Rounded up: who waits that long must not find that it was too short. */
export function toRetryAfterSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
