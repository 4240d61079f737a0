/**
 * If something else holds a lock on rows of one tenant, a batch of many tenants fails. It is halved by tenants until those are found; the
 * others are processed. Halving finds any lock, whatever row it is on.
 */
export interface LockedTenantHandling {
  /** Whether an error is a lock that was waited for in vain. */
  isLockTimeout: (error: unknown) => boolean;
  /** Whether an error means that the database is unavailable or timed out. A lock timeout may count as that too. */
  isUnavailable: (error: unknown) => boolean;
  /** Something holds a lock on rows of this tenant. */
  onLocked: (tenantId: string) => void;
  /** These were not reached, because too many others are locked. Each may be locked, or not. */
  onUnknown: (tenantIds: readonly string[]) => void;
}

/** When it is known that something holds a lock: longer than another process needs to commit, mostly. */
export const shortLockTimeoutMs = 20;

/**
 * How many calls may wait for a lock: all of them together 0.6 s. One locked tenant among 500 costs 10 of them. A commit that hangs
 * can lock the rows of all 500, which would be a thousand.
 */
const waitsMax = 32;

/** `work` waits for a lock for `shortLockTimeoutMs`. What fails for a reason other than a lock is left out: a batch without locks finds it. */
export async function leaveOutLocked<Result>(
  tenantIds: readonly string[],
  work: (tenantIds: readonly string[]) => Promise<Result>,
  { isLockTimeout, isUnavailable, onLocked, onUnknown }: LockedTenantHandling,
): Promise<Result[]> {
  const results: Result[] = [];
  /** Batches still to be tried, the next one last. */
  const batches = [tenantIds];
  let waits = 0;
  for (let batch = batches.pop(); batch !== undefined; batch = batches.pop()) {
    if (batch.length === 0) continue;
    if (waits >= waitsMax) {
      onUnknown(batch);
      continue;
    }
    try {
      results.push(await work(batch));
    } catch (error) {
      const isLocked = isLockTimeout(error);
      if (!isLocked && isUnavailable(error)) throw error;
      if (isLocked) waits += 1;
      if (batch.length === 1 && isLocked) onLocked(batch[0] as string);
      const middle = Math.ceil(batch.length / 2);
      if (batch.length > 1) batches.push(batch.slice(middle), batch.slice(0, middle));
    }
  }
  return results;
}
