/**
 * Token buckets. A bucket holds up to `burst` tokens and gains `perSecond` of them each second; a request takes as many as it costs. The time
 * is passed in, in milliseconds; if it goes back, nothing is gained.
 */
export interface Quota {
  perSecond: number;
  burst: number;
}

/** The limits of a quota, in the configuration and for a client. */
export const quotaLimits = { perSecondMax: 1_000_000, burstMax: 10_000_000 } as const;

/** The content of a bucket at a time. Below zero it is in debt, because a request has cost more than it held. */
export interface TokenBucket {
  tokens: number;
  atMs: number;
}

export function fullBucket({ burst }: Quota, nowMs: number): TokenBucket {
  return { tokens: burst, atMs: nowMs };
}

/** More than the largest request of the default configuration costs, so that a small burst does not make large requests cheap. */
const debtFloor = 1000;

/** The largest debt of a bucket. What would exceed it is remitted, so that no request can lock a client or a tenant out for long. */
export function debtMaxOf({ burst }: Quota): number {
  return Math.max(burst, debtFloor);
}

/** The bucket at the current time. */
export function refillBucket(quota: Quota, { tokens, atMs }: TokenBucket, nowMs: number): TokenBucket {
  const gained = (Math.max(0, nowMs - atMs) * quota.perSecond) / 1000;
  return { tokens: Math.min(quota.burst, Math.max(-debtMaxOf(quota), tokens) + gained), atMs: nowMs };
}

/**
 * Takes whole tokens, at most the wanted number. A negative number returns unused tokens. What is owed has been used already and is taken
 * in any case, so the bucket can be in debt afterwards, up to a maximum.
 */
export function takeTokens(
  quota: Quota,
  bucket: TokenBucket,
  nowMs: number,
  wanted: number,
  owed = 0,
): { granted: number; bucket: TokenBucket } {
  const tokens = refillBucket(quota, bucket, nowMs).tokens - owed;
  const granted = Math.min(wanted, Math.max(0, Math.floor(tokens)));
  const rest = Math.max(-debtMaxOf(quota), tokens - granted);
  return { granted, bucket: { tokens: Math.min(quota.burst, rest), atMs: nowMs } };
}

/**
 * The time until the bucket holds this many tokens, if none are taken. Slightly longer than the exact time, so that a retry at that time
 * is not refused because of a rounding error.
 */
export function msUntilTokens(quota: Quota, bucket: TokenBucket, nowMs: number, count: number): number {
  const missing = Math.min(count, quota.burst) - refillBucket(quota, bucket, nowMs).tokens;
  return missing <= 0 ? 0 : (missing * 1000) / quota.perSecond + marginMs;
}

const marginMs = 1;

/** `Retry-After` counts whole seconds; rounded up, so that a client that waits this long is admitted. */
export function toRetryAfterSeconds(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
