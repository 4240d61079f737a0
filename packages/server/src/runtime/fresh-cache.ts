import { createRecentCache } from "./recent-cache.js";

/**
 * Caches what was read for a few seconds, so that a request does not cost a query and a change takes effect within five. The bound is the
 * library's. The times are our own: the library counts an entry's age from when it was stored, this from when the read began, and a read
 * that a change has overtaken must not be stored at all.
 */
export interface FreshCache<Value> {
  /** The cached value if it is recent enough; undefined if it must be loaded. */
  peek: (key: string) => Value | undefined;
  load: (key: string) => Promise<Value>;
  /**
   * Reads with a reader of the caller's own, and stores what it finds. It never waits for a read that another caller has begun: a caller
   * that holds a connection of the pool would wait for one that waits for a connection.
   */
  loadAllBy: (
    keys: readonly string[],
    readNow: (keys: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
  ) => Promise<ReadonlyMap<string, Value>>;
  /** Drops what has just been changed. */
  forget: (key: string) => void;
  /** Drops everything, because the database may have gone back to an earlier state. */
  clear: () => void;
}

/** From this age on it is read again, while requests continue with the cached value. */
const refreshAgeMs = 2000;
/** From this age on it is not used. With the time of a query this keeps the promise of 5 s. */
const ageMaxMs = 4000;
const entriesMax = 10_000;

interface Entry<Value> {
  value: Value;
  readAtMs: number;
}

export function createFreshCache<Value>(
  read: (key: string) => Promise<Value>,
  monotonicMs: () => number,
): FreshCache<Value> {
  const entries = createRecentCache<Entry<Value>>(entriesMax);
  const pending = new Map<string, Promise<Value>>();
  /** How often something was dropped: what was read before that may be the old state. */
  let drops = 0;

  function load(key: string): Promise<Value> {
    const running = pending.get(key);
    if (running !== undefined) return running;
    // What is read was true when the read began, so its age counts from there.
    const readAtMs = monotonicMs();
    const reading = read(key)
      .then((value) => {
        // Not if it was changed in the meantime: then this may be the old state.
        if (pending.get(key) === reading) entries.set(key, { value, readAtMs });
        return value;
      })
      .finally(() => {
        if (pending.get(key) === reading) pending.delete(key);
      });
    pending.set(key, reading);
    return reading;
  }

  return {
    peek: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const ageMs = monotonicMs() - entry.readAtMs;
      if (ageMs >= ageMaxMs) return undefined;
      // A refresh that fails is repeated by the next request, which in the end waits for the answer.
      if (ageMs >= refreshAgeMs && !pending.has(key)) load(key).catch(() => undefined);
      return entry.value;
    },
    load,
    loadAllBy: async (keys, readNow) => {
      const [readAtMs, dropsBefore] = [monotonicMs(), drops];
      const values = await readNow(keys);
      if (drops !== dropsBefore) return values;
      for (const [key, value] of values) {
        const isNewest = (entries.get(key)?.readAtMs ?? readAtMs) <= readAtMs;
        if (isNewest) entries.set(key, { value, readAtMs });
      }
      return values;
    },
    forget: (key) => {
      drops += 1;
      entries.delete(key);
      pending.delete(key);
    },
    clear: () => {
      drops += 1;
      entries.clear();
      pending.clear();
    },
  };
}
