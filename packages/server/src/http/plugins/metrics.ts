import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import type { HistogramReading, Metric, Sample } from "../../runtime/metric.js";
import { Refusal } from "../refusal.js";
import type { Outcomes } from "./outcomes.js";

declare module "fastify" {
  interface FastifyInstance {
    /** The metrics, for the port of their own; undefined if a token is required and `Authorization` lacks it. */
    readMetrics: (authorization: string | undefined) => Promise<{ type: string; text: string } | undefined>;
  }
}

export interface MetricsOptions {
  /** The required bearer token. */
  token: string | undefined;
  /** Whether callers on this machine need no token: in the sandbox, which has no proxy in front of it. */
  isLocalOpen: boolean;
  /** The metrics of the parts of the service. */
  metrics: readonly Metric[];
  outcomes: Outcomes;
}

/** Gauges of prom-client with the names of counters, which `promtool check metrics` complains of. The same values exist by type. */
const misnamedMetrics = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** `/metrics` for Prometheus. It reveals internals, so it is not public. */
export function installMetrics(
  app: FastifyInstance,
  { token, isLocalOpen, metrics, outcomes }: MetricsOptions,
): void {
  const registry = new Registry();
  // The default of 10 ms wakes up an idle process a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
  for (const name of misnamedMetrics) registry.removeSingleMetric(name);
  const durations = new Histogram({
    name: "bursar_http_request_duration_seconds",
    help: "The duration of requests, from their headers to the end of the response.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  const errors = new Counter({
    name: "bursar_errors_total",
    help: "Error responses, by code.",
    labelNames: ["code"],
    registers: [registry],
  });
  for (const metric of metrics) addMetric(registry, metric);
  outcomes.onOutcome((request, reply) => {
    if (request.errorCode !== null) errors.inc({ code: request.errorCode });
    // The route's pattern, not the path: a label for each path would be a memory leak that any client could cause.
    const route = request.routeOptions.url ?? "none";
    const labels = { method: request.method, route, status: reply.statusCode };
    durations.observe(labels, reply.elapsedTime / 1000);
  });
  app.decorate("readMetrics", async (authorization) => {
    if (token !== undefined && !isEqual(authorization ?? "", `Bearer ${token}`)) return undefined;
    return { type: registry.contentType, text: await registry.metrics() };
  });
  app.get("/metrics", async (request, reply) => {
    if (!mayRead(request, token, isLocalOpen)) throw new Refusal("NOT_FOUND");
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

/** Values are read when the metrics are. The registry writes what `get` returns; prom-client's own classes keep values themselves. */
function addMetric(registry: Registry, metric: Metric): void {
  const { name, help, kind } = metric;
  const get = async () => ({ name, help, type: kind, aggregator: "sum", values: await valuesOf(metric) });
  registry.registerMetric({ name, help, type: kind, get } as never);
}

interface WrittenValue extends Sample {
  metricName?: string;
}

async function valuesOf(metric: Metric): Promise<readonly WrittenValue[]> {
  if (metric.kind === "histogram") return metric.read().flatMap((one) => bucketsOf(metric.name, one));
  const read = await metric.read();
  return typeof read === "number" ? [{ labels: {}, value: read }] : read;
}

/** A bucket counts what is at most its bound, so each includes those before it. */
function bucketsOf(name: string, { labels, bounds, counts, sum }: HistogramReading): WrittenValue[] {
  let total = 0;
  const buckets = counts.map((count, index) => {
    total += count;
    const le = String(bounds[index] ?? "+Inf");
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: total };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: total },
  ];
}

function mayRead(request: FastifyRequest, token: string | undefined, isLocalOpen: boolean): boolean {
  if (token !== undefined) return isEqual(request.headers.authorization ?? "", `Bearer ${token}`);
  // Behind a proxy on the same machine every caller comes from loopback. Its forwarding header reveals that.
  const forwarded = request.headers["x-forwarded-for"] ?? request.headers.forwarded;
  const isLocal = isLoopback(request.socket.remoteAddress ?? "") && isLocalName(request.headers.host ?? "");
  return isLocalOpen && forwarded === undefined && isLocal;
}

/** A page in a browser on this machine can give its own name the address of loopback; the browser then sends that name. */
function isLocalName(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(::ffff:)?127\./.test(address);
}

function isEqual(given: string, expected: string): boolean {
  const digest = (value: string) => createHash("sha256").update(value).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
