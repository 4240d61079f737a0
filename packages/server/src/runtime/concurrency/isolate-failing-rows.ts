/**
 * One strategy for rows that fail. A batch is one commit, so one row that the database or our own code refuses would fail all of it, and
 * with it everything behind. The batch is halved until the rows at fault are found; these record the failure (how often, why, and when to
 * try again) and are not claimed before that time; the others are processed.
 */
export interface FailingRowHandling<Row> {
  /** Whether an error means that the database is unavailable or timed out: then no row is at fault. */
  isUnavailable: (error: unknown) => boolean;
  /** Records the failure on the row itself and logs its id. */
  onFailure: (row: Row, error: unknown) => Promise<void> | void;
  /**
   * If this many rows of one call fail, something other than the rows is broken. The last error is thrown, and the rows that were not
   * reached are left for the next call. 20 if left out.
   */
  failuresMax?: number;
}

const failuresMaxDefault = 20;

/**
 * Processes rows in as few calls of `work` as possible and returns what these returned. One failing row among 500 costs 18 calls. An error
 * that no row is at fault for is thrown; what was processed before it stays processed.
 */
export async function isolateFailingRows<Row, Result>(
  rows: readonly Row[],
  work: (rows: readonly Row[]) => Promise<Result>,
  { isUnavailable, onFailure, failuresMax = failuresMaxDefault }: FailingRowHandling<Row>,
): Promise<Result[]> {
  const results: Result[] = [];
  /** Batches still to be tried, the next one last, so that rows are processed in order. */
  const batches = [rows];
  let failures = 0;
  for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
    if (batch.length === 0) continue;
    try {
      results.push(await work(batch));
    } catch (error) {
      if (isUnavailable(error)) throw error;
      if (batch.length > 1) {
        const middle = Math.ceil(batch.length / 2);
        batches.push(batch.slice(middle), batch.slice(0, middle));
        continue;
      }
      await onFailure(batch[0] as Row, error);
      failures += 1;
      if (failures === failuresMax) throw error;
    }
  }
  return results;
}

/** How many rows a batch takes: half as many after an error, so that one which is too much for a statement becomes one that is not. */
export interface BatchSize {
  current: () => number;
  /** Twice as many, up to the maximum. */
  grow: () => void;
  shrink: () => void;
}

export function createBatchSize(max: number): BatchSize {
  let size = max;
  return {
    current: () => size,
    grow: () => {
      size = Math.min(size * 2, max);
    },
    shrink: () => {
      size = Math.ceil(size / 2);
    },
  };
}
