import type { Timers } from "../loops/timers.js";
import { createLabelledCounter, type Metric } from "../metric.js";
import type { EndedSpan } from "./tracer.js";

/** Sends spans to a collector in batches. What does not fit, or is not accepted, is dropped and counted: traces are not worth a request. */
export interface SpanExporter {
  add: (span: EndedSpan) => void;
  metrics: readonly Metric[];
  /** Sends what is left, once. */
  close: () => Promise<void>;
}

export interface SpanExporterDeps {
  /** Rejects if the collector does not accept them. */
  send: (spans: readonly EndedSpan[]) => Promise<void>;
  /** Called for the first of several failures in a row. */
  onFailing: (error: unknown) => void;
  timers: Pick<Timers, "after">;
}

const waitingMax = 4096;
const batchMax = 512;
const intervalMs = 2000;

export function createSpanExporter({ send, onFailing, timers }: SpanExporterDeps): SpanExporter {
  const counts = createLabelledCounter(["result"]);
  let waiting: EndedSpan[] = [];
  let sending: Promise<void> | undefined;
  let cancel: (() => void) | undefined;
  let isFailing = false;

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax);
      waiting = waiting.slice(batchMax);
      try {
        await send(batch);
        isFailing = false;
        counts.add(["exported"], batch.length);
      } catch (error) {
        counts.add(["dropped"], batch.length);
        if (!isFailing) onFailing(error);
        isFailing = true;
      }
    }
  }

  function flush(): Promise<void> {
    cancel?.();
    cancel = undefined;
    sending ??= sendAll().finally(() => {
      sending = undefined;
    });
    return sending;
  }

  return {
    add: (span) => {
      if (waiting.length >= waitingMax) {
        counts.add(["dropped"]);
        return;
      }
      waiting.push(span);
      if (waiting.length >= batchMax) void flush();
      else cancel ??= timers.after(intervalMs, () => void flush());
    },
    metrics: [
      {
        name: "bursar_spans_total",
        help: "Spans of traces, by whether the collector has accepted them.",
        kind: "counter",
        read: counts.samples,
      },
    ],
    close: flush,
  };
}
