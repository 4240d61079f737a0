/** One request of the service, as the receiver recorded it. */
interface Arrival {
  endpoint: string;
  id: string;
  body: string;
  /** The attempt number in the request, and the receiver's behaviour. */
  attempt: string;
  behaviour: string;
  isVerified: boolean;
}

/** The history of one event at one endpoint. */
interface Outcome {
  ids: Set<string>;
  bodies: Set<string>;
  count: number;
  /** The steps in order, for diagnosis. */
  trail: string[];
  /** The time of the last request that got a complete 2xx response. */
  settledMs: number | undefined;
}

/** A request without a response yet. */
interface Waiting {
  outcome: Outcome;
  arrivedMs: number;
}

const malformed = "malformed";

/** Records the requests that arrive, and finds unexpected ones. */
export function createArrivals() {
  const outcomes = new Map<string, Outcome>();
  const unverified: string[] = [];
  /** Requests that arrived after one had been answered, with the time in between. */
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
    /** The number of events that were answered with 2xx, counted once for each endpoint. */
    settledCount: () => settled,
    report: (killTimesMs: readonly number[]) => ({
      settled,
      requests: [...outcomes.values()].reduce((sum, { count }) => sum + count, 0),
      unverified,
      malformed: [...outcomes.keys()].filter((key) => key.endsWith(malformed)),
      /** Events that arrived under different ids, or with different bodies. */
      inconsistent: [...outcomes]
        .filter(([, { ids, bodies }]) => ids.size !== 1 || bodies.size !== 1)
        .map(([key]) => key),
      repeats: repeats.length,
      /** A response is lost only if the process that waited for it is killed. */
      needlessRepeats: repeats
        .filter(
          ({ settledMs, arrivedMs }) => !killTimesMs.some((kill) => kill >= settledMs && kill <= arrivedMs),
        )
        .map(({ key }) => [key, ...(outcomes.get(key)?.trail ?? []), `kills: ${killTimesMs}`].join("; ")),
    }),
  };
}

/** The subject and version in a body; a body without them counts as an unknown subject. */
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
