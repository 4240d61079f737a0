import type { EndedSpan, SpanAttributes, SpanKind } from "./tracer.js";

/** The numbers of OTLP for kinds of spans, and for the status of one that failed. */
const kinds: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const statusError = 2;

/** Spans as the body of an OTLP/HTTP request in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */
export function encodeSpans(spans: readonly EndedSpan[], resource: SpanAttributes, version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeSpans: [{ scope: { name: "bursar", version }, spans: spans.map(encodeSpan) }],
      },
    ],
  });
}

function encodeSpan({ context, parentSpanId, name, kind, startMs, endMs, attributes, error }: EndedSpan) {
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
    // Sampled, as the flags of W3C Trace Context say it.
    flags: 1,
    name,
    kind: kinds[kind],
    startTimeUnixNano: nanosecondsOf(startMs),
    endTimeUnixNano: nanosecondsOf(Math.max(startMs, endMs)),
    attributes: encodeAttributes(attributes),
    ...(error === undefined ? {} : { status: { code: statusError, message: error } }),
  };
}

function encodeAttributes(attributes: SpanAttributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: encodeValue(value) }],
  );
}

/** A 64-bit integer is a string in JSON. */
function encodeValue(value: string | number): object {
  if (typeof value === "string") return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** More digits than a number has. */
function nanosecondsOf(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, "0")}`;
}
