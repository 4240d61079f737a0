/** When a delivery is tried again: ten attempts over nearly three days, each at about this time after the one before. */
export const attemptDelaysMs: readonly number[] = [
  0, 5_000, 30_000, 120_000, 900_000, 3_600_000, 14_400_000, 43_200_000, 86_400_000, 86_400_000,
];

/** Each delay is up to this much shorter or longer, so that what has failed together does not come back together. */
const jitter = 0.2;
/** A receiver may ask for more time than the schedule gives, but not for more than this. */
const retryAfterMaxMs = 86_400_000;

export interface FailedAttempt {
  /** Counted from 1. */
  number: number;
  /** What the receiver asked for. */
  retryAfterMs: number | undefined;
}

/** How long to wait after a failed attempt; undefined after the last one. `random` is from 0 to 1. */
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

/** Reads `Retry-After`, seconds or a date; undefined where it is neither. */
export function readRetryAfterMs(text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const time = httpDatePattern.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(time - nowMs, 0);
}
