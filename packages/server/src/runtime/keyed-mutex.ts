/**
 * Does what concerns the same thing one after the other, in the order in which it came. Whoever would wait for a row's lock waits
 * here instead, without a connection to the database, of which there are few for everybody.
 */
export type Lanes = <T>(key: string, work: () => Promise<T>) => Promise<T> | undefined;

/** In each lane so many may wait; what comes beyond that gets undefined. */
export function createLanes(waitingMax: number): Lanes {
  const lanes = new Map<string, { count: number; last: Promise<unknown> }>();
  return (key, work) => {
    const lane = lanes.get(key) ?? { count: 0, last: Promise.resolve() };
    if (lane.count > waitingMax) return undefined;
    lanes.set(key, lane);
    lane.count += 1;
    const done = lane.last.then(work).finally(() => {
      lane.count -= 1;
      if (lane.count === 0) lanes.delete(key);
    });
    // Whoever comes next waits for the end of this, however it ends.
    lane.last = done.catch(() => undefined);
    return done;
  };
}
