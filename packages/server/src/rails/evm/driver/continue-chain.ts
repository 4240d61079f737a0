import type { FollowedBlock, NetworkLease } from "../../../app/chain/chain-store.js";
import type { FollowedChain } from "./driver-context.js";
import { aheadMax } from "./follow/follow-head.js";

type Reached = Pick<
  FollowedChain,
  "headNumber" | "inheritedTo" | "confirmedFaults" | "misreads" | "activeTo" | "aheadInTime"
>;

/**
 * How far a chain is known that was read from the database. `kept`: the chain of a step in which nodes were not available. If no other process and
 * no other step has changed it since, what this process has followed itself is still known to have been read, and waits to be confirmed. It would
 * be read again as if it was inherited: more questions to nodes that fail already.
 */
export function continueChain(
  lease: NetworkLease,
  tail: readonly FollowedBlock[],
  settledNumber: number,
  kept: FollowedChain | undefined,
): Reached {
  const headNumber = tail.at(-1)?.number ?? settledNumber;
  const reached = { headNumber, activeTo: headNumber };
  if (kept === undefined || kept.lease !== lease || kept.tail.at(-1)?.hash !== tail.at(-1)?.hash)
    return {
      ...{ ...reached, inheritedTo: headNumber, confirmedFaults: new Set() },
      ...{ misreads: undefined, aheadInTime: aheadMax },
    };
  const { inheritedTo, confirmedFaults, misreads, aheadInTime } = kept;
  return { ...reached, inheritedTo, confirmedFaults, misreads, aheadInTime };
}
