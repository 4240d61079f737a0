/** The delays between delivery attempts: ten attempts over nearly three days. */
export const attemptDelaysMs: readonly number[] = [
  0, 5_000, 30_000, 120_000, 900_000, 3_600_000, 14_400_000, 43_200_000, 86_400_000, 86_400_000,
];

/** Each delay is varied by up to this fraction, so that deliveries that failed together are not retried together. */
const jitter = 0.2;
/** The longest delay that a receiver can request with `Retry-After`. */
const retryAfterMaxMs = 86_400_000;

export interface FailedAttempt {
  /** Counted from 1. */
  number: number;
  /** The delay that the receiver requested. */
  retryAfterMs: number | undefined;
}

/** The delay after a failed attempt; undefined after the last one. `random` is from 0 to 1. */
export function delayAfter(
  { number, retryAfterMs = 0 }: FailedAttempt,
  delaysMs: readonly number[],
  random: number,
): number | undefined {
  const delayMs = delaysMs[number];
  if (delayMs === undefined) return undefined;
  const jitteredMs = Math.round(delayMs * (1 - jitter + 2 * jitter * random));
  return Math.max(jitteredMs, Math.min(retryAfterMs, retryAfterMaxMs));
}

const httpDatePattern = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses `Retry-After`, which is a number of seconds or a date; undefined if it is neither. */
export function readRetryAfterMs(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const time = httpDatePattern.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(time - nowMs, 0);
}
