import { baseUrl, integer, type Setting } from "./setting.js";

/** The headers of requests to a collector, which can contain its key. */
const otlpHeaders: Setting<string> = {
  env: "OTEL_EXPORTER_OTLP_HEADERS",
  about: "Further headers of the requests to `traces.otlp_url`, such as a key of the collector.",
  allowed: "`name=value`, separated by commas, with values percent-encoded",
  read: (value) => (isHeaderList(value) ? value : undefined),
  show: () => "********",
};

function isHeaderList(text: string): boolean {
  return text.split(",").every((pair) => {
    if (!/^\s*[\w!#$%&'*+.^`|~-]+=[!-~]*\s*$/.test(pair)) return false;
    try {
      return /^[ -~]*$/.test(decodeURIComponent(pair));
    } catch {
      return false;
    }
  });
}

/** Traces, which are off unless there is a collector to send them to. */
export const traceSettings = {
  "traces.otlp_url": baseUrl({
    env: "OTEL_EXPORTER_OTLP_ENDPOINT",
    about:
      "The address of an OpenTelemetry collector that traces are sent to, over OTLP/HTTP as JSON; `/v1/traces` is appended. By default there are no traces.",
  }),
  "traces.otlp_headers": otlpHeaders,
  "traces.sample_percent": integer(
    {
      default: 100,
      about:
        "How many in a hundred requests are recorded, of those without a `traceparent`; any other is recorded if its `traceparent` says so.",
    },
    { min: 0, max: 100 },
  ),
  "traces.requests_per_second": integer(
    { default: 50, about: "The maximum number of requests that a process records in a second." },
    { min: 1, max: 100_000 },
  ),
};
