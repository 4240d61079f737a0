import { createHash, timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Registry } from "prom-client";
import type { Metric } from "../../runtime/metric.js";
import { Refusal } from "../refusal.js";
import { createRequestDurations } from "./request-durations.js";

export interface MetricsOptions {
  /** The bearer token to ask for. */
  token: string | undefined;
  /** Whether callers on this machine need none: in the sandbox, which has no proxy in front. */
  isLocalOpen: boolean;
  /** What the parts of the service count by themselves. */
  metrics: readonly Metric[];
}

/** `/metrics` for Prometheus. It tells much about the inside, so it is not open to everybody. */
export function installMetrics(app: FastifyInstance, { token, isLocalOpen, metrics }: MetricsOptions): void {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const durations = createRequestDurations(registry);
  const errors = new Counter({
    name: "bursar_errors_total",
    help: "Requests that were answered with an error, by its code.",
    labelNames: ["code"],
    registers: [registry],
  });
  for (const metric of metrics) addMetric(registry, metric);
  app.addHook("onResponse", (request, reply, done) => {
    if (request.errorCode !== null) errors.inc({ code: request.errorCode });
    // The route's pattern, not the path: a label per path would be a memory leak that any client could drive.
    const route = request.routeOptions.url ?? "none";
    durations.observe(request.method, route, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  app.get("/metrics", async (request, reply) => {
    if (!mayRead(request, token, isLocalOpen)) throw new Refusal("NOT_FOUND");
    return reply.type(registry.contentType).send(await registry.metrics());
  });
}

/** Its value is asked for when somebody looks. */
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
  // Behind a proxy on the same machine everybody comes from loopback. Where it adds a header, that gives it away.
  const forwarded = request.headers["x-forwarded-for"] ?? request.headers.forwarded;
  return isLocalOpen && forwarded === undefined && isLoopback(request.socket.remoteAddress ?? "");
}

function isLoopback(address: string): boolean {
  return address === "::1" || /^(::ffff:)?127\./.test(address);
}

function isEqual(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
