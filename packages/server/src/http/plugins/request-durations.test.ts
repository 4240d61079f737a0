import { Histogram, Registry } from "prom-client";
import { expect, it } from "vitest";
import { createRequestDurations } from "./request-durations.js";

it("shows the durations of requests as a histogram of the library's own does, to the letter", async () => {
  const [registry, reference] = [new Registry(), new Registry()];
  const durations = createRequestDurations(registry);
  const histogram = new Histogram({
    name: "bursar_http_request_duration_seconds",
    help: "How long requests took, from their headers to the end of the answer.",
    labelNames: ["method", "route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [reference],
  });
  // Right at a bound, between two, beyond the last and nothing at all.
  const seconds = [0.0025, 0.03, 31, 0, 30];
  for (const [index, status] of [200, 404, 200, 503, 404, 200, 200].entries()) {
    const method = index % 2 === 0 ? "GET" : "POST";
    const route = index % 3 === 0 ? "none" : "/v1/transactions/:id";
    const took = seconds[index % seconds.length] ?? 0;
    durations.observe(method, route, status, took);
    histogram.observe({ method, route, status }, took);
  }
  expect(await registry.metrics()).toBe(await reference.metrics());
});
