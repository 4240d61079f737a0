import { describe, expect, it } from "vitest";
import { formatTraceparent, parseTraceparent } from "./trace-context.js";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const spanId = "00f067aa0ba902b7";

describe("a traceparent", () => {
  it("is read and written as in the standard", () => {
    const header = `00-${traceId}-${spanId}-01`;
    expect(parseTraceparent(header)).toEqual({ traceId, spanId, isSampled: true });
    expect(formatTraceparent({ traceId, spanId, isSampled: true })).toBe(header);
    expect(parseTraceparent(`00-${traceId}-${spanId}-00`)?.isSampled).toBe(false);
    expect(parseTraceparent(`00-${traceId}-${spanId}-03`)?.isSampled).toBe(true);
  });

  it("of a later version is read up to what is known", () => {
    expect(parseTraceparent(`cc-${traceId}-${spanId}-01-what-the-future-will-be`)).toEqual({
      traceId,
      spanId,
      isSampled: true,
    });
  });

  it.each([
    ["nothing", undefined],
    ["an empty header", ""],
    ["two headers, joined", `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
    ["a list of headers", [`00-${traceId}-${spanId}-01`]],
    ["upper case", `00-${traceId.toUpperCase()}-${spanId}-01`],
    ["a trace of zeros", `00-${"0".repeat(32)}-${spanId}-01`],
    ["a span of zeros", `00-${traceId}-${"0".repeat(16)}-01`],
    ["the version ff", `ff-${traceId}-${spanId}-01`],
    ["more than version 00 has", `00-${traceId}-${spanId}-01-x`],
    ["a trace that is too short", `00-${traceId.slice(1)}-${spanId}-01`],
    ["a quote and SQL", `00-${traceId}-${spanId}-01'; DROP TABLE events`],
    ["a line break", `00-${traceId}-${spanId}-01\n`],
    ["a header of kilobytes", `cc-${traceId}-${spanId}-01-${"x".repeat(4096)}`],
  ])("is ignored if it is %s", (_what, header) => {
    expect(parseTraceparent(header)).toBeUndefined();
  });
});
