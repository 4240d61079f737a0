/** What `/metrics` answers, as lists of samples by name. */
export interface ReadMetrics {
  /** Every metric with its type, also one without samples. */
  types: ReadonlyMap<string, string>;
  samples: readonly { name: string; labels: Record<string, string>; value: number }[];
  /** The value of the sample with these labels; undefined if there is none. */
  value: (name: string, labels?: Record<string, string>) => number | undefined;
}

export async function readMetrics({ url }: { url: string }): Promise<ReadMetrics> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]),
  );
  const samples = [...text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = "", labels = "", value = ""]) => ({
      name,
      labels: Object.fromEntries(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = "", of = ""]) => [label, of]),
      ),
      value: Number(value),
    }),
  );
  return {
    types,
    samples,
    value: (name, wanted = {}) =>
      samples.find(
        (one) => one.name === name && Object.entries(wanted).every(([label, of]) => one.labels[label] === of),
      )?.value,
  };
}
