/** What a receiver learns from checking a delivery. */
export type Verification = { verified: true } | { verified: false; reason: string };

export const verified: Verification = { verified: true };

export function notVerified(reason: string): Verification {
  return { verified: false, reason };
}

export interface VerificationClock {
  nowSeconds: number;
  /** How far the time of signing may be from now, either way: what is older may be somebody's recording. */
  toleranceSeconds: number;
}

/** Whether the time of signing is well-formed and near enough. */
export function checkTimestamp(text: string, clock: VerificationClock): Verification {
  if (!/^\d{1,12}$/.test(text)) return notVerified("webhook-timestamp is not a number of seconds");
  const distance = Math.abs(clock.nowSeconds - Number(text));
  return distance <= clock.toleranceSeconds
    ? verified
    : notVerified(`webhook-timestamp is ${distance} s away from now`);
}

/** Compares two signatures without telling by the time it takes how far they agree. */
export function isSameText(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index++) {
    difference |= one.charCodeAt(index) ^ other.charCodeAt(index % Math.max(other.length, 1));
  }
  return difference === 0;
}
