import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Metric } from "../../runtime/metric.js";
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

/** `/metrics` for Prometheus. It reveals internals, so it is not public. */
export function installMetrics(
  app: FastifyInstance,
  { token, isLocalOpen, metrics, outcomes }: MetricsOptions,
): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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

/** The value is read when the metrics are. */
function addMetric(registry: Registry, { name, help, kind, read }: Metric): void {
  const registers = [registry];
  if (kind === "gauge") {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  } else {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }
}

function mayRead(request: FastifyRequest, token: string | undefined, isLocalOpen: boolean): boolean {
  if (token !== undefined) return isEqual(request.headers.authorization ?? "", `Bearer ${token}`);
  // Behind a proxy on the same machine every caller comes from loopback. Its forwarding header reveals that.
  const forwarded = request.headers["x-forwarded-for"] ?? request.headers.forwarded;
  return isLocalOpen && forwarded === undefined && isLoopback(request.socket.remoteAddress ?? "");
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(::ffff:)?127\./.test(address);
}

function isEqual(given: string, expected: string): boolean {
  const digest = (value: string) => createHash("sha256").update(value).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
