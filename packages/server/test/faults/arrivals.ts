/** One request of the service, as a receiver has seen it. */
interface Arrival {
  endpoint: string;
  id: string;
  body: string;
  isVerified: boolean;
}

/** What has come of one event at one endpoint. */
interface Outcome {
  ids: Set<string>;
  bodies: Set<string>;
  count: number;
  /** When a whole 2xx answer had been given. */
  settledAtMs: number | undefined;
}

/** Keeps account of what arrives, and finds what should not have. */
export function createArrivals() {
  const records = new Map<string, Outcome>();
  const unverified: string[] = [];
  /** Those that came although the one before had been answered, with the time between. */
  const repeats: { key: string; settledAtMs: number; atMs: number }[] = [];
  let settled = 0;

  return {
    add: ({ endpoint, id, body, isVerified }: Arrival): string => {
      const key = `${endpoint} ${subjectOf(body)}`;
      const record = records.get(key) ?? {
        ids: new Set(),
        bodies: new Set(),
        count: 0,
        settledAtMs: undefined,
      };
      records.set(key, record);
      record.ids.add(id);
      record.bodies.add(body);
      record.count++;
      if (!isVerified) unverified.push(key);
      if (record.settledAtMs !== undefined)
        repeats.push({ key, settledAtMs: record.settledAtMs, atMs: Date.now() });
      return key;
    },
    settle: (key: string): void => {
      const record = records.get(key);
      if (record === undefined || record.settledAtMs !== undefined) return;
      record.settledAtMs = Date.now();
      settled++;
    },
    /** How many events have been answered with 2xx, once for each endpoint. */
    settledCount: () => settled,
    report: (killTimesMs: readonly number[]) => ({
      settled,
      requests: [...records.values()].reduce((sum, { count }) => sum + count, 0),
      unverified,
      /** Events that came under different ids, or with different bodies. */
      inconsistent: [...records]
        .filter(([, { ids, bodies }]) => ids.size !== 1 || bodies.size !== 1)
        .map(([key]) => key),
      repeats: repeats.length,
      /** An answer is lost only with the process that waited for it. */
      needlessRepeats: repeats
        .filter(({ settledAtMs, atMs }) => !killTimesMs.some((kill) => kill >= settledAtMs && kill <= atMs))
        .map(({ key }) => key),
    }),
  };
}

/** Which change of which thing the body tells of. */
function subjectOf(body: string): string {
  const { sequence, data } = JSON.parse(body) as {
    sequence: number;
    data: { transaction?: { id: string; version: number } };
  };
  return `${sequence} ${data.transaction?.id} ${data.transaction?.version}`;
}
