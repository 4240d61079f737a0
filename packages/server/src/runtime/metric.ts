/**
 * A number that a part of the service keeps, for `/metrics` to show. Labels have values from lists in the code or in the configuration,
 * never from clients or tenants: each value is a time series that is kept for months.
 */
export type Metric = NumberMetric | HistogramMetric;

interface Described {
  name: string;
  help: string;
}

export interface NumberMetric extends Described {
  /** A counter only ever grows. */
  kind: "gauge" | "counter";
  /** One value, or one for each set of labels; none if it is not known. */
  read: () => number | readonly Sample[] | Promise<readonly Sample[]>;
}

export interface Sample {
  labels: Readonly<Record<string, string>>;
  value: number;
}

interface HistogramMetric extends Described {
  kind: "histogram";
  read: () => readonly HistogramReading[];
}

export interface HistogramReading {
  labels: Readonly<Record<string, string>>;
  /** The upper bounds of the buckets, ascending. */
  bounds: readonly number[];
  /** The observations in each bucket, and last those above all bounds. */
  counts: readonly number[];
  sum: number;
}

/** Counts by one set of labels. What is counted comes by for every transaction, so the labels are one string until they are read. */
export interface LabelledCounter {
  add: (values: readonly string[], count?: number) => void;
  samples: () => Sample[];
}

export function createLabelledCounter(labelNames: readonly string[]): LabelledCounter {
  const counts = new Map<string, number>();
  return {
    add: (values, count = 1) => {
      const key = values.join(" ");
      counts.set(key, (counts.get(key) ?? 0) + count);
    },
    samples: () => [...counts].map(([key, value]) => ({ labels: labelsOf(labelNames, key), value })),
  };
}

export interface Histogram {
  observe: (values: readonly string[], value: number) => void;
  read: () => HistogramReading[];
}

/** A histogram for each set of labels that was observed. */
export function createHistogram(labelNames: readonly string[], bounds: readonly number[]): Histogram {
  const series = new Map<string, { counts: number[]; sum: number }>();
  return {
    observe: (values, value) => {
      const key = values.join(" ");
      let one = series.get(key);
      if (one === undefined) {
        one = { counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 };
        series.set(key, one);
      }
      const above = bounds.findIndex((bound) => value <= bound);
      const bucket = above === -1 ? bounds.length : above;
      one.counts[bucket] = (one.counts[bucket] ?? 0) + 1;
      one.sum += value;
    },
    read: () =>
      [...series].map(([key, { counts, sum }]) => ({
        labels: labelsOf(labelNames, key),
        bounds,
        counts,
        sum,
      })),
  };
}

/** No value of a label contains a space. */
function labelsOf(names: readonly string[], key: string): Record<string, string> {
  const values = key.split(" ");
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? ""]));
}
