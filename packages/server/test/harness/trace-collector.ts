import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually } from "./eventually.js";

/** A span as a collector receives it. */
interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Record<string, string>;
  status?: { code: number; message: string };
}

export interface TraceCollector {
  url: string;
  spans: CollectedSpan[];
  /** The spans of a trace, once there are so many. */
  trace: (traceId: string, count: number) => Promise<CollectedSpan[]>;
  stop: () => Promise<void>;
}

/** A small OTLP/HTTP collector for JSON, which refuses what is not as the specification says. */
export async function startTraceCollector(): Promise<TraceCollector> {
  const spans: CollectedSpan[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const isOtlp = request.url === "/v1/traces" && request.headers["content-type"] === "application/json";
    if (!isOtlp) return response.writeHead(400).end();
    spans.push(...readSpans(JSON.parse(Buffer.concat(chunks).toString("utf8"))));
    return response.setHeader("content-type", "application/json").end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const of = (traceId: string) => spans.filter((span) => span.traceId === traceId);
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    trace: (traceId, count) =>
      eventually(
        () => of(traceId),
        (found) => found.length >= count,
      ),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

type Attributes = { key: string; value: { stringValue?: string; intValue?: string } }[];

interface OtlpBody {
  resourceSpans: {
    resource: { attributes: Attributes };
    scopeSpans: { spans: (Omit<CollectedSpan, "attributes"> & { attributes: Attributes })[] }[];
  }[];
}

function readSpans({ resourceSpans }: OtlpBody): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({
        ...span,
        attributes: { ...toRecord(resource.attributes), ...toRecord(span.attributes) },
      })),
    ),
  );
}

function toRecord(attributes: Attributes): Record<string, string> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? ""]),
  );
}
