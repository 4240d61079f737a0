/** A sequence that a client has named. No log gets as far as the greatest that a number holds exactly, so one beyond it is as good. */
export function readSequence(named: number): bigint {
  return BigInt(Math.min(named, Number.MAX_SAFE_INTEGER));
}
