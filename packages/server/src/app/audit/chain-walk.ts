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
  let verified = 0n;
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

  /** What is wrong with an entry by itself and, if it is the next one, with its hash; the one after a missing entry continues a hash that is not known. */
  function judge(
    { number: found, hash: foundHash, keyId, ...entry }: ChainedAuditEntry,
    isNext: boolean,
  ): string | undefined {
    // First, because its hash continues the entry before the disturbance, which need not be the one before it.
    if (entry.action === headChangedAction && found !== 1n)
      return `entry ${found} records that the head of the chain was changed: entries before it may have been removed or inserted`;
    if (keyId === null && isKeyed) return `entry ${found} is not keyed, although entries before it are`;
    const computed =
      keyId === null ? unkeyedHash(hash, found, entry) : chainHash(keys, keyId, hash, found, entry);
    if (computed === undefined) return `entry ${found} was keyed with the unknown master key ${keyId}`;
    if (isNext && Buffer.compare(computed, foundHash) !== 0) return `entry ${found} was changed`;
    if (keyId !== null && ends !== undefined && !isBeforeEnd(keys, ends, keyId, found))
      return `entry ${found} was keyed with the master key ${keyId}, which had been replaced before, or whose replacement is not recorded`;
    return undefined;
  }

  /** Goes on from an entry in which no fault was found; there can be one in its place. */
  function accept({ number: found, hash: foundHash, keyId, tenantId, action }: ChainedAuditEntry) {
    number = found;
    hash = foundHash;
    isKeyed ||= keyId !== null;
    if (keyId === null) unkeyedTo = found;
    if (action === entriesLostAction) losses += 1;
    // Before chains were keyed, that of no tenant began with its first entry.
    if (found === 1n && keyId !== null && !isChainStart(tenantId, action))
      return `entry 1 is ${action}, not the beginning of the chain: the entries before it were removed`;
    return expected.has(number) ? compareWithCheckpoints() : undefined;
  }

  /** Goes on from the stored hash of an entry that is at fault. */
  function pass(entry: ChainedAuditEntry): string | undefined {
    ({ number, hash } = entry);
    return expected.has(number) ? compareWithCheckpoints() : undefined;
  }

  function step(entry: ChainedAuditEntry): string | undefined {
    if (entry.number !== number + 1n) return `entry ${number + 1n} is missing`;
    const fault = judge(entry, true);
    if (fault !== undefined) return fault;
    verified += 1n;
    return accept(entry);
  }

  /** As `step`, but goes on after a fault, so that none is hidden behind another. */
  function stepOver(entry: ChainedAuditEntry): string[] {
    const isNext = entry.number === number + 1n;
    const missing = isNext ? undefined : describeGap(number + 1n, entry.number - 1n);
    const fault = judge(entry, isNext);
    if (isNext && fault === undefined) verified += 1n;
    const ofPlace = fault === undefined ? accept(entry) : pass(entry);
    return [missing, fault, ofPlace].filter((one) => one !== undefined);
  }

  return {
    start: () => (expected.has(number) ? compareWithCheckpoints() : undefined),
    step,
    stepOver,
    position: () => ({ number, hash, unkeyedTo }),
    isKeyed: () => isKeyed,
    /** How many entries continue the hash before them. */
    verified: () => verified,
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

function describeGap(first: bigint, last: bigint): string {
  return `entry ${first} is missing${first === last ? "" : `, and so are those up to entry ${last}`}`;
}
