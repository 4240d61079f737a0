/**
 * Lets one piece of work wait long and the others briefly. Stops wait until what they stop has ended, and meanwhile keep turns of which a
 * process has two or three: if several waited long, no other stop would be served.
 */
export interface LongWait {
  /** The work is given how long it may wait. */
  run: <T>(work: (waitMs: number) => Promise<T>) => Promise<T>;
}

/** Longer than another process needs to acquire the lease of a market. */
const longMs = 5000;
/** Much longer than the usual few milliseconds. */
const briefMs = 250;

export function createLongWait(): LongWait {
  let isTaken = false;
  return {
    run: async (work) => {
      if (isTaken) return await work(briefMs);
      isTaken = true;
      try {
        return await work(longMs);
      } finally {
        isTaken = false;
      }
    },
  };
}
