export interface HaltedMarketsDeps {
  readHalted: () => Promise<string[]>;
  monotonicMs: () => number;
}

/** Probes and requests that come within this time share one reading. */
const keptMs = 1000;

/** The names of the markets that are halted. */
export function createHaltedMarkets({ readHalted, monotonicMs }: HaltedMarketsDeps) {
  let last: { atMs: number; reading: Promise<string[]> } | undefined;
  let known: readonly string[] = [];

  function find(): Promise<readonly string[]> {
    if (last === undefined || monotonicMs() - last.atMs >= keptMs) {
      const reading = readHalted();
      last = { atMs: monotonicMs(), reading };
      reading.then(
        (names) => {
          known = names;
        },
        () => {
          last = undefined;
        },
      );
    }
    return last.reading;
  }

  return {
    find,
    /** What was known last, if the database does not answer. */
    findOrKnown: (): Promise<readonly string[]> => find().catch(() => known),
  };
}
