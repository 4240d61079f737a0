/** The result of verifying a delivery. */
export type Verification = { verified: true } | { verified: false; reason: string };

export const verified: Verification = { verified: true };

export function notVerified(reason: string): Verification {
  return { verified: false, reason };
}

export interface VerificationClock {
  nowSeconds: number;
  /** The largest allowed distance between the signing time and now. It limits replay. */
  toleranceSeconds: number;
}

/** Whether the signing time is well-formed and close enough to now. */
export function checkTimestamp(timestamp: string, clock: VerificationClock): Verification {
  if (!/^\d{1,12}$/.test(timestamp)) return notVerified("webhook-timestamp is not a number of seconds");
  const distance = Math.abs(clock.nowSeconds - Number(timestamp));
  return distance <= clock.toleranceSeconds
    ? verified
    : notVerified(`webhook-timestamp is ${distance} s from now`);
}

/** Compares two signatures in a time that does not depend on how many characters match. */
export function isEqualInConstantTime(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let index = 0; index < one.length; index++) {
    difference |= one.charCodeAt(index) ^ other.charCodeAt(index % Math.max(other.length, 1));
  }
  return difference === 0;
}
