import type { Histogram, Registry } from "prom-client";

/** How long requests took, by method, route and status. */
export interface RequestDurations {
  observe: (method: string, route: string, status: number, seconds: number) => void;
}

const name = "bursar_http_request_duration_seconds";
const boundsSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** What was seen with the same labels. */
interface Series {
  labels: Readonly<Record<string, string | number>>;
  /** How many took no longer than each bound, and longer than the one before; at the end those that took longer than all. */
  counts: number[];
  sum: number;
}

/**
 * A histogram that the library shows but does not keep: its own looks for its labels and its bucket by their texts at every
 * observation, which takes 1.5 µs of each request. There are few series, so each is found once, and then it is two additions.
 */
export function createRequestDurations(registry: Registry): RequestDurations {
  const byRoute = new Map<string, Map<string, Map<number, Series>>>();
  const shown: Series[] = [];

  function begin(method: string, route: string, status: number): Series {
    const byMethod = byRoute.get(route) ?? new Map<string, Map<number, Series>>();
    const byStatus = byMethod.get(method) ?? new Map<number, Series>();
    const made = {
      labels: { method, route, status },
      counts: Array(boundsSeconds.length + 1).fill(0),
      sum: 0,
    };
    byRoute.set(route, byMethod.set(method, byStatus.set(status, made)));
    shown.push(made);
    return made;
  }

  // What the registry asks of a metric; its type names the library's own classes, which hold more than that.
  const metric = {
    name,
    get: async () => ({
      name,
      help: "How long requests took, from their headers to the end of the answer.",
      type: "histogram",
      aggregator: "sum",
      values: shown.flatMap(show),
    }),
  };
  registry.registerMetric(metric as unknown as Histogram);
  return {
    observe: (method, route, status, seconds) => {
      const series = byRoute.get(route)?.get(method)?.get(status) ?? begin(method, route, status);
      let bucket = 0;
      while (bucket < boundsSeconds.length && seconds > (boundsSeconds[bucket] as number)) bucket += 1;
      series.counts[bucket] = (series.counts[bucket] as number) + 1;
      series.sum += seconds;
    },
  };
}

function show({ labels, counts, sum }: Series) {
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    return {
      metricName: `${name}_bucket`,
      labels: { le: boundsSeconds[index] ?? "+Inf", ...labels },
      value: total,
    };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}
