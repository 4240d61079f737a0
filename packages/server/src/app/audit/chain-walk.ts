import type { IntegrityKeys } from "../access/integrity-keys.js";
import { type ChainedAuditEntry, entriesLostAction, headChangedAction, isChainStart } from "./audit-entry.js";
import { chainHash, unkeyedHash } from "./chain-hash.js";
import type { Checkpoint } from "./checkpoint.js";
import { isBeforeEnd, type KeyEnds } from "./key-ends.js";

/**
 * Follows a chain entry by entry. Each step says what is wrong with its entry. The ends of keys are known for a chain in the database, not
 * for an exported one.
 */
export function createChainWalk(
  keys: IntegrityKeys,
  from: { number: bigint; hash: Uint8Array; keyId?: string },
  checkpoints: readonly Checkpoint[] = [],
  ends?: KeyEnds,
) {
  let { number, hash } = from;
  let isKeyed = from.keyId !== undefined;
  let unkeyedTo = 0n;
  let losses = 0;
  const expected = new Map(checkpoints.map((checkpoint) => [BigInt(checkpoint.number), checkpoint]));

  /** A checkpoint before the first entry that is kept can no longer be compared. */
  function compareWithCheckpoints(): string | undefined {
    const wrong = checkpoints.find(
      (checkpoint) =>
        BigInt(checkpoint.number) === number && checkpoint.hash !== Buffer.from(hash).toString("hex"),
    );
    return (
      wrong && `entry ${number} differs from its checkpoint of ${wrong.time}: the chain was written again`
    );
  }

  function step({ number: found, hash: foundHash, keyId, ...entry }: ChainedAuditEntry): string | undefined {
    if (found !== number + 1n) return `entry ${number + 1n} is missing`;
    // First, because its hash continues the entry before the disturbance, which need not be the one before it.
    if (entry.action === headChangedAction && found !== 1n)
      return `entry ${found} records that the head of the chain was changed: entries before it may have been removed or inserted`;
    if (keyId === null && isKeyed) return `entry ${found} is not keyed, although entries before it are`;
    const computed =
      keyId === null ? unkeyedHash(hash, found, entry) : chainHash(keys, keyId, hash, found, entry);
    if (computed === undefined) return `entry ${found} was keyed with the unknown master key ${keyId}`;
    if (Buffer.compare(computed, foundHash) !== 0) return `entry ${found} was changed`;
    if (keyId !== null && ends !== undefined && !isBeforeEnd(keys, ends, keyId, found))
      return `entry ${found} was keyed with the master key ${keyId}, which had been replaced before, or whose replacement is not recorded`;
    number = found;
    hash = computed;
    isKeyed ||= keyId !== null;
    if (keyId === null) unkeyedTo = found;
    if (entry.action === entriesLostAction) losses += 1;
    // Before chains were keyed, that of no tenant began with its first entry.
    if (found === 1n && keyId !== null && !isChainStart(entry.tenantId, entry.action))
      return `entry 1 is ${entry.action}, not the beginning of the chain: the entries before it were removed`;
    return expected.has(number) ? compareWithCheckpoints() : undefined;
  }

  return {
    start: () => (expected.has(number) ? compareWithCheckpoints() : undefined),
    step,
    position: () => ({ number, hash, unkeyedTo }),
    isKeyed: () => isKeyed,
    losses: () => losses,
    /** A checkpoint beyond the end of the chain. */
    findUnreached: (): string | undefined => {
      const cut = checkpoints.find((checkpoint) => BigInt(checkpoint.number) > number);
      return (
        cut &&
        `the chain ends at entry ${number}, but had entry ${cut.number} at ${cut.time}: its end was removed`
      );
    },
  };
}
