import { showId } from "@bursar/protocol";
import type { DatabaseIdentity } from "../../runtime/database/database-identity.js";

/** The epoch of the database as clients see it. */
export interface EpochNames {
  /** Undefined until it was read. */
  current: () => string | undefined;
  /**
   * What entity tags end in. Empty in the first epoch. In a later one a version or a sequence can have had another meaning before, so that a
   * tag with the number alone would match what a client has of lost data.
   */
  tagSuffix: () => string;
}

const suffixLength = 8;

export function createEpochNames({
  epoch,
  hasEarlierEpochs,
}: Pick<DatabaseIdentity, "epoch" | "hasEarlierEpochs">): EpochNames {
  let known: { id: string; name: string } | undefined;
  const current = () => {
    const id = epoch();
    if (id === undefined) return undefined;
    if (known?.id !== id) known = { id, name: showId("epo", id) };
    return known.name;
  };
  return {
    current,
    tagSuffix: () => (hasEarlierEpochs() ? `-${current()?.slice(-suffixLength)}` : ""),
  };
}
