/** Keeps what was read for a few seconds, so that a request does not cost a query and a change is in force within five. */
export interface FreshCache<Value> {
  /** What is known and recent enough; undefined where it must be asked for. */
  peek: (key: string) => Value | undefined;
  load: (key: string) => Promise<Value>;
  /** Forgets what has just been changed. */
  forget: (key: string) => void;
}

/** From this age on it is asked for again, while requests go on with what is known. */
const refreshAgeMs = 2000;
/** From this age on nothing is decided by it. With the time of a query this keeps the promise of 5 s. */
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
  const entries = new Map<string, Entry<Value>>();
  const pending = new Map<string, Promise<Value>>();

  function load(key: string): Promise<Value> {
    const running = pending.get(key);
    if (running !== undefined) return running;
    // What is read was true when the reading began, so its age counts from there.
    const readAtMs = monotonicMs();
    const reading = read(key)
      .then((value) => {
        // Not where it was changed meanwhile: then this may be the old state.
        if (pending.get(key) === reading) remember(key, { value, readAtMs });
        return value;
      })
      .finally(() => {
        if (pending.get(key) === reading) pending.delete(key);
      });
    pending.set(key, reading);
    return reading;
  }

  function remember(key: string, entry: Entry<Value>): void {
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size > entriesMax) entries.delete(entries.keys().next().value as string);
  }

  return {
    peek: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const ageMs = monotonicMs() - entry.readAtMs;
      if (ageMs >= ageMaxMs) return undefined;
      // A refresh that fails is not lost: the next request asks again, and in the end waits for the answer.
      if (ageMs >= refreshAgeMs && !pending.has(key)) load(key).catch(() => undefined);
      return entry.value;
    },
    load,
    forget: (key) => {
      entries.delete(key);
      pending.delete(key);
    },
  };
}
