/**
 * Runs work with the same key one after the other, in order. What would wait for a row's lock waits here instead, without one of the few
 * connections to the database. Written by hand: a limiter such as p-limit has no keys and no bound on what waits, so that around it the map
 * and the count would be the same 15 lines.
 */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T> | undefined;

/** At most this many wait for each key; further work is refused with undefined. */
export function createKeyedMutex(waitingMax: number): KeyedMutex {
  const queues = new Map<string, { count: number; last: Promise<unknown> }>();
  return (key, work) => {
    const queue = queues.get(key) ?? { count: 0, last: Promise.resolve() };
    if (queue.count > waitingMax) return undefined;
    queues.set(key, queue);
    queue.count += 1;
    const done = queue.last.then(work).finally(() => {
      queue.count -= 1;
      if (queue.count === 0) queues.delete(key);
    });
    // The next one waits for the end of this one, whether it succeeds or fails.
    queue.last = done.catch(() => undefined);
    return done;
  };
}
