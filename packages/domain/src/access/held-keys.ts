import { everyone, type Lineage } from "./lineage.js";

/** A public key that a client has, or had until some time. */
export interface HeldKey {
  /** Equal strings for equal keys; null for a key that is not known any more, and can be any. */
  key: string | null;
  /** Null if the client has it now, without an end. */
  untilMs: number | null;
}

/**
 * Who has more keys, with all in its lineage, has one in common with everyone. A lineage can have a hundred clients with sixty keys each, and
 * comparing those of fifty approvers takes half a second.
 */
export const comparedMax = 200;

/** Whether two clients have had a key in common at any time since this one, or each at another. */
export function shareKey(one: readonly HeldKey[], other: readonly HeldKey[], sinceMs: number): boolean {
  if (one.length === 0 || other.length === 0) return false;
  const [first, second] = [keysSince(one, sinceMs), keysSince(other, sinceMs)];
  if (first.has(null) || second.has(null)) return first.size > 0 && second.size > 0;
  return [...first].some((key) => second.has(key));
}

/**
 * Lineages in which a key stands for a client as well: who has its private key can act as everyone who has it. They can be compared with
 * each other only.
 */
export function addKeys(
  holders: readonly { lineage: Lineage; keys: readonly HeldKey[] }[],
  sinceMs: number,
): Lineage[] {
  const bits = new Map<string, Lineage>();
  // Behind the bits of all clients.
  let next = 1n << BigInt(Math.max(0, ...holders.map(({ lineage }) => lineage.toString(2).length)));
  const bitOf = (key: string): Lineage => {
    const known = bits.get(key);
    if (known !== undefined) return known;
    const bit = next;
    next <<= 1n;
    bits.set(key, bit);
    return bit;
  };
  return holders.map(({ lineage, keys }) =>
    [...keysSince(keys, sinceMs)].reduce(
      (all: Lineage, key) => all | (key === null ? everyone : bitOf(key)),
      lineage,
    ),
  );
}

/** The keys that count; one that can be any if there are too many to compare. */
function keysSince(keys: readonly HeldKey[], sinceMs: number): ReadonlySet<string | null> {
  const counted = new Set<string | null>();
  for (const { key, untilMs } of keys)
    if (untilMs === null || untilMs >= sinceMs) {
      counted.add(key);
      if (counted.size > comparedMax) return new Set([null]);
    }
  return counted;
}
