/** Where a span belongs: its trace, its own id, and whether the trace is recorded. As in W3C Trace Context. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits, not all zero. */
  traceId: string;
  /** 16 lower-case hexadecimal digits, not all zero. */
  spanId: string;
  isSampled: boolean;
}

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const headerLengthMax = 256;
const sampledFlag = 1;

/**
 * Reads a `traceparent` header, which any client can send; undefined if it does not match the standard. Headers that are repeated arrive
 * joined by a comma, and do not match.
 */
export function parseTraceparent(header: string | readonly string[] | undefined): TraceContext | undefined {
  if (typeof header !== "string" || header.length > headerLengthMax) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", more] = form.exec(header) ?? [];
  // A later version can have more fields, and its beginning is the same.
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & sampledFlag) !== 0 };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}
