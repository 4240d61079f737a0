/**
 * Joins look-ups that are asked for in the same turn of the event loop into one, so that requests that arrive together cost one
 * query and not one each. A look-up on its own waits for nothing but the end of its turn.
 */
export function coalesce<Key, Value>(
  nameOf: (key: Key) => string,
  /** Finds all of them at once, by name. */
  find: (keys: readonly Key[]) => Promise<ReadonlyMap<string, Value>>,
  batchMax: number,
): (key: Key) => Promise<Value | undefined> {
  let waiting = new Map<string, Waiting<Key, Value>>();

  function flush(): void {
    const all = [...waiting.values()];
    waiting = new Map();
    for (let start = 0; start < all.length; start += batchMax)
      void lookUp(all.slice(start, start + batchMax));
  }

  async function lookUp(batch: readonly Waiting<Key, Value>[]): Promise<void> {
    try {
      const found = await find(batch.map(({ key }) => key));
      for (const { key, resolve } of batch) resolve(found.get(nameOf(key)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (key) => {
    const name = nameOf(key);
    const known = waiting.get(name);
    if (known !== undefined) return known.promise;
    if (waiting.size === 0) setImmediate(flush);
    let resolve: Waiting<Key, Value>["resolve"] = () => undefined;
    let reject: Waiting<Key, Value>["reject"] = () => undefined;
    const promise = new Promise<Value | undefined>((resolvePromise, rejectPromise) => {
      resolve = resolvePromise;
      reject = rejectPromise;
    });
    waiting.set(name, { key, promise, resolve, reject });
    return promise;
  };
}

interface Waiting<Key, Value> {
  key: Key;
  promise: Promise<Value | undefined>;
  resolve: (value: Value | undefined) => void;
  reject: (error: unknown) => void;
}
