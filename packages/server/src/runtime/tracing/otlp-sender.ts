import { encodeSpans } from "./otlp-json.js";
import type { EndedSpan, SpanAttributes } from "./tracer.js";

export interface OtlpSenderOptions {
  /** The address of the collector, to which `/v1/traces` is appended. */
  url: string;
  /** Further headers, such as a key of the collector: `name=value`, separated by commas, values percent-encoded. */
  headers: string | undefined;
  resource: SpanAttributes;
  version: string;
}

const timeoutMs = 5000;

/** Sends spans over OTLP/HTTP as JSON. The address is the operator's, so it is not checked like that of a webhook. */
export function createOtlpSender({ url, headers, resource, version }: OtlpSenderOptions) {
  const target = `${url.replace(/\/+$/, "")}/v1/traces`;
  const own = readHeaders(headers ?? "");
  return async (spans: readonly EndedSpan[]): Promise<void> => {
    const response = await fetch(target, {
      method: "POST",
      headers: { ...own, "content-type": "application/json" },
      body: encodeSpans(spans, resource, version),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    // The body is not needed, and a connection is only used again once it was read.
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the collector answered ${response.status}`);
  };
}

/** As the specification of `OTEL_EXPORTER_OTLP_HEADERS` has it. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const [name = "", ...value] = pair.split("=");
    return name.trim() === "" ? [] : [[name.trim(), decodeURIComponent(value.join("=").trim())]];
  });
  return Object.fromEntries(pairs);
}
