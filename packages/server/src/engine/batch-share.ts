import type { BatchShare } from "../app/transactions/settlement.js";

/**
 * How much a batch takes, by how the last ones went. One that fails is tried with half as many, so that a batch which is too much for a
 * statement becomes one that is not; and one row that fails by itself is passed over for a while, so that everybody else is served.
 */
export interface BatchShareKeeper {
  share: () => BatchShare;
  succeeded: () => void;
  /** Whether the database was away, or out of time: then no row is to blame. */
  failed: (isUnavailable: boolean) => void;
}

/** After this long, those that were passed over are tried again. */
const passOverForMs = 60_000;

export function createBatchShareKeeper(limitMax: number, monotonicMs: () => number): BatchShareKeeper {
  let limit = limitMax;
  let passOver = 0;
  let passedOverMs = 0;
  return {
    share: () => {
      if (passOver > 0 && monotonicMs() - passedOverMs >= passOverForMs) passOver = 0;
      return { limit, passOver };
    },
    succeeded: () => {
      limit = Math.min(limit * 2, limitMax);
    },
    failed: (isUnavailable) => {
      if (limit > 1) limit = Math.ceil(limit / 2);
      else if (!isUnavailable) {
        passOver += 1;
        passedOverMs = monotonicMs();
      }
    },
  };
}
