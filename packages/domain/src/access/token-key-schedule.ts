/**
 * The schedule of a key that signs tokens. A key is published as soon as it exists, signs from `activeFromMs` until the next one does,
 * and verifies until the last token that it signed has expired.
 */
export interface ScheduledKey {
  activeFromMs: number;
}

export interface KeySchedule<Key> {
  /** The key to sign with, if any is active. */
  signing: Key | undefined;
  /** The keys that verify: the signing key, future ones, and those whose tokens may still be valid. */
  published: Key[];
  /** The keys whose tokens have all expired. */
  retired: Key[];
}

export function scheduleKeys<Key extends ScheduledKey>(
  keys: readonly Key[],
  nowMs: number,
  tokenLifetimeMs: number,
): KeySchedule<Key> {
  const inOrder = [...keys].sort((a, b) => a.activeFromMs - b.activeFromMs);
  const isRetired = (index: number) => {
    const successor = inOrder[index + 1];
    return successor !== undefined && successor.activeFromMs + tokenLifetimeMs <= nowMs;
  };
  return {
    signing: inOrder.findLast((key) => key.activeFromMs <= nowMs),
    published: inOrder.filter((_, index) => !isRetired(index)),
    retired: inOrder.filter((_, index) => isRetired(index)),
  };
}
