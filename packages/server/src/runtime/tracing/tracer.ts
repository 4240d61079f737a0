import { parseTraceparent, type TraceContext } from "./trace-context.js";

/** Begins spans, and gives those that have ended to an exporter. Exists only if tracing is on. */
export interface Tracer {
  /** The span of a request; undefined if the request is not recorded. Continues the client's trace if `traceparent` is valid. */
  startRequest: (traceparent: string | readonly string[] | undefined, name: string) => Span | undefined;
  /** The first span of something that no request has caused; undefined if it is not recorded. */
  startTrace: (begun: BegunSpan) => Span | undefined;
  /** A span of something that a recorded request has caused; it can begin in the past. */
  startChild: (parent: TraceContext, begun: BegunSpan) => Span;
  /** Now, on the clock of all spans, for a span that begins before it is known to be one. */
  nowMs: () => number;
}

interface BegunSpan {
  name: string;
  kind: SpanKind;
  startMs?: number;
}

export type SpanKind = "internal" | "server" | "client";

export interface Span {
  context: TraceContext;
  /** Ends it, once. */
  end: (attributes: SpanAttributes, error?: string) => void;
}

/** Values that are undefined are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

/** A span that has ended. */
export interface EndedSpan {
  context: TraceContext;
  parentSpanId: string | undefined;
  name: string;
  kind: SpanKind;
  startMs: number;
  endMs: number;
  attributes: SpanAttributes;
  error: string | undefined;
}

export interface TracerDeps {
  onEnded: (span: EndedSpan) => void;
  /** How many in a hundred requests are recorded, of those that do not say it themselves. */
  samplePercent: number;
  /** How many requests a second are recorded at most, also of those that ask for it. */
  perSecondMax: number;
  randomBytes: (size: number) => Uint8Array;
  /** The time that all processes share. */
  now: () => number;
  monotonicMs: () => number;
}

export function createTracer(deps: TracerDeps): Tracer {
  const { onEnded, randomBytes, now, monotonicMs } = deps;
  const takesAnother = createRateLimit(deps.perSecondMax, monotonicMs);
  const newId = (bytes: number) => {
    const id = Buffer.from(randomBytes(bytes));
    // Zeros are no id.
    if (id.every((byte) => byte === 0)) id[0] = 1;
    return id.toString("hex");
  };
  const isChosen = () => deps.samplePercent > ((randomBytes(1)[0] ?? 0) * 100) / 256;

  function begin(traceId: string, parentSpanId: string | undefined, begun: BegunSpan): Span {
    const context = { traceId, spanId: newId(8), isSampled: true };
    // The duration is measured by the clock that nobody can set.
    const begunAtMs = now();
    const begunMs = monotonicMs();
    const startMs = begun.startMs ?? begunAtMs;
    let isEnded = false;
    return {
      context,
      end: (attributes, error) => {
        if (isEnded) return;
        isEnded = true;
        const { name, kind } = begun;
        const endMs = begunAtMs + (monotonicMs() - begunMs);
        onEnded({ context, parentSpanId, name, kind, startMs, endMs, attributes, error });
      },
    };
  }

  return {
    startRequest: (traceparent, name) => {
      const parent = parseTraceparent(traceparent);
      const isRecorded = parent === undefined ? isChosen() : parent.isSampled;
      if (!isRecorded || !takesAnother()) return undefined;
      return begin(parent?.traceId ?? newId(16), parent?.spanId, { name, kind: "server" });
    },
    startTrace: (begun) => (isChosen() && takesAnother() ? begin(newId(16), undefined, begun) : undefined),
    startChild: ({ traceId, spanId }, begun) => begin(traceId, spanId, begun),
    nowMs: now,
  };
}

/** A client that asks for every request to be recorded costs no more than this. */
function createRateLimit(perSecondMax: number, monotonicMs: () => number): () => boolean {
  let windowMs = Number.NEGATIVE_INFINITY;
  let taken = 0;
  return () => {
    if (monotonicMs() - windowMs >= 1000) {
      windowMs = monotonicMs();
      taken = 0;
    }
    if (taken >= perSecondMax) return false;
    taken += 1;
    return true;
  };
}
