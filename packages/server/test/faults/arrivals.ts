/** One request of the service, as a receiver has seen it. */
interface Arrival {
  endpoint: string;
  id: string;
  body: string;
  /** Which attempt it is, by its own account, and what the receiver does with it. */
  attempt: string;
  behaviour: string;
  isVerified: boolean;
}

/** What has come of one event at one endpoint. */
interface Outcome {
  ids: Set<string>;
  bodies: Set<string>;
  count: number;
  /** What happened, in order, for a person who wants to know why. */
  trail: string[];
  /** When the last request came to which a whole 2xx answer was given. */
  settledMs: number | undefined;
}

/** A request that waits for its answer. */
interface Waiting {
  outcome: Outcome;
  arrivedMs: number;
}

const malformed = "malformed";

/** Keeps account of what arrives, and finds what should not have. */
export function createArrivals() {
  const outcomes = new Map<string, Outcome>();
  const unverified: string[] = [];
  /** Those that came although one before had been answered, with the time between. */
  const repeats: { key: string; settledMs: number; arrivedMs: number }[] = [];
  let settled = 0;

  return {
    add: ({ endpoint, id, body, attempt, behaviour, isVerified }: Arrival): Waiting => {
      const key = `${endpoint} ${subjectOf(body)}`;
      const arrivedMs = Date.now();
      const outcome: Outcome = outcomes.get(key) ?? {
        ids: new Set(),
        bodies: new Set(),
        count: 0,
        trail: [],
        settledMs: undefined,
      };
      outcomes.set(key, outcome);
      outcome.ids.add(id);
      outcome.bodies.add(body);
      outcome.count++;
      outcome.trail.push(`${arrivedMs}: attempt ${attempt}, ${behaviour}`);
      if (!isVerified) unverified.push(key);
      if (outcome.settledMs !== undefined) repeats.push({ key, settledMs: outcome.settledMs, arrivedMs });
      return { outcome, arrivedMs };
    },
    settle: ({ outcome, arrivedMs }: Waiting): void => {
      if (outcome.settledMs === undefined) settled++;
      outcome.settledMs = arrivedMs;
      outcome.trail.push(`${Date.now()}: answered`);
    },
    /** How many events have been answered with 2xx, once for each endpoint. */
    settledCount: () => settled,
    report: (killTimesMs: readonly number[]) => ({
      settled,
      requests: [...outcomes.values()].reduce((sum, { count }) => sum + count, 0),
      unverified,
      malformed: [...outcomes.keys()].filter((key) => key.endsWith(malformed)),
      /** Events that came under different ids, or with different bodies. */
      inconsistent: [...outcomes]
        .filter(([, { ids, bodies }]) => ids.size !== 1 || bodies.size !== 1)
        .map(([key]) => key),
      repeats: repeats.length,
      /** An answer is lost only with the process that waited for it. */
      needlessRepeats: repeats
        .filter(
          ({ settledMs, arrivedMs }) => !killTimesMs.some((kill) => kill >= settledMs && kill <= arrivedMs),
        )
        .map(({ key }) => [key, ...(outcomes.get(key)?.trail ?? []), `kills: ${killTimesMs}`].join("; ")),
    }),
  };
}

/** Which change of which thing the body tells of; a body that tells of none is a subject that nobody expects. */
function subjectOf(body: string): string {
  try {
    const { sequence, data } = JSON.parse(body) as {
      sequence: number;
      data: { transaction: { id: string; version: number } };
    };
    return `${sequence} ${data.transaction.id} ${data.transaction.version}`;
  } catch {
    return malformed;
  }
}
