import { describe, expect, it } from "vitest";
import { createSpanExporter } from "./span-exporter.js";
import { createTracer, type EndedSpan } from "./tracer.js";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

function createWorld(changed: { samplePercent?: number; perSecondMax?: number } = {}) {
  const world = { nowMs: 1_700_000_000_000, monotonicMs: 0, byte: 0x77, ended: [] as EndedSpan[] };
  const tracer = createTracer({
    onEnded: (span) => world.ended.push(span),
    samplePercent: 100,
    perSecondMax: 10,
    randomBytes: (size) => new Uint8Array(size).fill(world.byte),
    now: () => world.nowMs,
    monotonicMs: () => world.monotonicMs,
    ...changed,
  });
  return { world, tracer };
}

describe("a tracer", () => {
  it("records no more requests in a second than its bound, whatever clients ask for", () => {
    const { world, tracer } = createWorld({ perSecondMax: 3 });
    const start = () => tracer.startRequest(traceparent, "GET /v1/wallets") !== undefined;
    expect(Array.from({ length: 5 }, start)).toEqual([true, true, true, false, false]);
    world.monotonicMs = 1000;
    expect(start()).toBe(true);
  });

  it("follows the client's decision, and its own for requests without a trace", () => {
    const { world, tracer } = createWorld({ samplePercent: 50 });
    expect(tracer.startRequest(traceparent, "a")).toBeDefined();
    expect(tracer.startRequest(traceparent.replace(/01$/, "00"), "a")).toBeUndefined();
    world.byte = 127;
    expect(tracer.startRequest(undefined, "a")).toBeDefined();
    world.byte = 128;
    expect(tracer.startRequest(undefined, "a")).toBeUndefined();
    expect(createWorld({ samplePercent: 0 }).tracer.startRequest(undefined, "a")).toBeUndefined();
  });

  it("never makes an id of zeros", () => {
    const { world, tracer } = createWorld();
    world.byte = 0;
    const { traceId, spanId } = tracer.startRequest(undefined, "a")?.context ?? {};
    expect(traceId).not.toMatch(/^0+$/);
    expect(spanId).not.toMatch(/^0+$/);
  });

  it("measures durations by the clock that nobody can set, and ends a span once", () => {
    const { world, tracer } = createWorld();
    const parent = { traceId: "a".repeat(32), spanId: "b".repeat(16), isSampled: true };
    const span = tracer.startChild(parent, { name: "settle", kind: "internal", startMs: world.nowMs - 5 });
    world.monotonicMs = 20;
    world.nowMs -= 3_600_000;
    span.end({});
    span.end({});
    expect(world.ended).toHaveLength(1);
    const [{ startMs, endMs, parentSpanId } = { startMs: 0, endMs: 0, parentSpanId: "" }] = world.ended;
    expect([endMs - startMs, parentSpanId]).toEqual([25, parent.spanId]);
  });
});

describe("an exporter of spans", () => {
  const span = { name: "a" } as EndedSpan;

  it("sends batches, and drops what does not fit while the collector hangs", async () => {
    const sizes: number[] = [];
    let accept: () => void = () => undefined;
    const exporter = createSpanExporter({
      send: (spans) => {
        sizes.push(spans.length);
        return new Promise((resolve) => {
          accept = resolve;
        });
      },
      onFailing: () => undefined,
      timers: { after: () => () => undefined },
    });
    for (let index = 0; index < 6000; index++) exporter.add(span);
    expect(sizes).toEqual([512]);
    const [metric] = exporter.metrics;
    expect(metric?.read()).toEqual([{ labels: { result: "dropped" }, value: 6000 - 512 - 4096 }]);
    accept();
  });

  it("reports the first of several failures", async () => {
    const failures: unknown[] = [];
    const exporter = createSpanExporter({
      send: () => Promise.reject(new Error("refused")),
      onFailing: (error) => failures.push(error),
      timers: { after: () => () => undefined },
    });
    for (let index = 0; index < 3; index++) {
      exporter.add(span);
      await exporter.close();
    }
    expect(failures).toHaveLength(1);
  });
});
