import { randomBytes, randomUUID } from "node:crypto";
import { showId } from "@bursar/protocol";
import type { Logger } from "pino";
import type { Settlement } from "../app/transactions/settlement.js";
import type { Settings } from "../config/settings.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import type { Metric } from "../runtime/metric.js";
import { createOtlpSender } from "../runtime/tracing/otlp-sender.js";
import { createSpanExporter } from "../runtime/tracing/span-exporter.js";
import { createTracer, type Tracer } from "../runtime/tracing/tracer.js";
import { createSettlementTracing } from "../store/tracing/trace-settlements.js";
import type { ObserveUnit } from "../store/transactions/write-settlements.js";
import { softwareVersion } from "../version.js";

export interface TracingParts {
  tracer: Tracer;
  metrics: readonly Metric[];
  close: () => Promise<void>;
}

/** What follows the settlements of every unit of work: the metrics, and the traces if there are any. */
export function observeSettlements(
  count: (settlements: readonly Settlement[]) => void,
  tracer: Tracer | undefined,
): ObserveUnit {
  const traceUnit =
    tracer === undefined ? undefined : createSettlementTracing(tracer, (id) => showId("tx", id));
  return () => {
    const trace = traceUnit?.();
    return (tx, settlements) => {
      tx.afterCommit(() => count(settlements));
      return trace?.(tx, settlements);
    };
  };
}

/** Traces to the configured collector; undefined without one. */
export function composeTracing(
  settings: Settings,
  log: Pick<Logger, "warn">,
  now: () => number,
): TracingParts | undefined {
  const url = settings["traces.otlp_url"];
  if (url === undefined) return undefined;
  const exporter = createSpanExporter({
    send: createOtlpSender({
      url,
      headers: settings["traces.otlp_headers"],
      resource: {
        "service.name": "bursar",
        "service.version": softwareVersion,
        "service.instance.id": randomUUID(),
      },
      version: softwareVersion,
    }),
    onFailing: (error) =>
      log.warn({ err: error }, "The trace collector did not accept spans. They are dropped until it does."),
    timers: nodeTimers,
  });
  const tracer = createTracer({
    onEnded: exporter.add,
    samplePercent: settings["traces.sample_percent"],
    perSecondMax: settings["traces.requests_per_second"],
    randomBytes,
    now,
    monotonicMs: () => performance.now(),
  });
  return { tracer, metrics: exporter.metrics, close: exporter.close };
}
