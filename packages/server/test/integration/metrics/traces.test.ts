import { randomBytes } from "node:crypto";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { removeOldContexts } from "../../../src/store/tracing/trace-contexts.js";
import { eventually } from "../../harness/eventually.js";
import { readMetrics } from "../../harness/metrics.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { startTraceCollector, type TraceCollector } from "../../harness/trace-collector.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const payment = { reference: "traced", asset: "USD", amount: "1" };
const parentSpanId = "00f067aa0ba902b7";

describe("traces", () => {
  let collector: TraceCollector;
  let receiver: WebhookReceiver;
  let service: TestService;
  let hooks: ReturnType<typeof webhooksOf>;
  beforeAll(async () => {
    collector = await startTraceCollector();
    receiver = await startWebhookReceiver();
    service = await startTestService({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    hooks = webhooksOf(service, await service.token(await service.createTenant("1000")));
    await hooks.createEndpoint(`${receiver.url}/traced`);
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
    await collector.stop();
  });

  const newTrace = () => randomBytes(16).toString("hex");
  const create = async (traceparent: string) => {
    const { status, body } = await hooks.send("POST", "/v1/transactions", payment, {
      "idempotency-key": newTrace(),
      traceparent,
    });
    expect(status).toBe(202);
    await hooks.api.settled(body.id);
    return body.id as string;
  };
  const contextsOf = (id: string) =>
    service.database.query<{ version: number; length: number }>(sql`
      SELECT version, octet_length(context) AS length FROM trace_contexts
      WHERE transaction_id = ${readId("tx", id)} ORDER BY version
    `);
  const requestSpanOf = (id: string) =>
    eventually(
      () => {
        const settle = collector.spans.find((span) => span.attributes["bursar.transaction.id"] === id);
        return collector.spans.find(({ spanId }) => spanId === settle?.parentSpanId);
      },
      (found) => found !== undefined,
    );

  it("go from the client's request over the settlement to the webhook, each the parent of the next", async () => {
    const traceId = newTrace();
    const id = await create(`00-${traceId}-${parentSpanId}-01`);
    const spans = await collector.trace(traceId, 3);
    const named = (name: string) => spans.filter((span) => span.name === name);
    const [request] = named("POST /v1/transactions");
    const [settle] = named("settle transaction");
    const [delivery] = named("POST webhook");
    expect(spans).toHaveLength(3);
    expect(request).toMatchObject({
      parentSpanId,
      kind: 2,
      attributes: {
        "service.name": "bursar",
        "http.route": "/v1/transactions",
        "http.response.status_code": "202",
      },
    });
    expect(settle).toMatchObject({
      parentSpanId: request?.spanId,
      attributes: { "bursar.transaction.id": id, "bursar.transaction.state": "completed" },
    });
    expect(delivery).toMatchObject({
      parentSpanId: settle?.spanId,
      kind: 3,
      attributes: { "bursar.delivery.attempt": "1", "http.response.status_code": "200" },
    });
    for (const { startTimeUnixNano, endTimeUnixNano } of spans)
      expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true);

    const received = receiver.received.find(({ body }) => body.data.transaction.id === id);
    expect(received?.headers["traceparent"]).toBe(`00-${traceId}-${delivery?.spanId}-01`);
    // Nothing of it is shown, not even to the client itself.
    for (const path of ["/v1/events", `/v1/transactions/${id}`, "/v1/webhook-deliveries"])
      expect(JSON.stringify((await hooks.send("GET", path)).body)).not.toContain(traceId);
  });

  it("begin again if what a client sends is not as in the standard", async () => {
    const hostile = [
      "'; DROP TABLE events; --",
      `00-${"0".repeat(32)}-${parentSpanId}-01`,
      `00-${"a".repeat(4000)}-${parentSpanId}-01`,
      `00-${"a".repeat(32)}-${parentSpanId}-01, 00-${"b".repeat(32)}-${parentSpanId}-01`,
    ];
    const checked = hostile.map(async (traceparent) => {
      const id = await create(traceparent);
      const request = await requestSpanOf(id);
      expect(request?.parentSpanId).toBeUndefined();
      expect(request?.traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(traceparent).not.toContain(request?.traceId);
      expect(await contextsOf(id)).toEqual([
        { version: 1, length: 24 },
        { version: 2, length: 24 },
      ]);
    });
    await Promise.all(checked);
  });

  it("record and store nothing for a request that is not to be recorded", async () => {
    const traceId = newTrace();
    const id = await create(`00-${traceId}-${parentSpanId}-00`);
    expect(await contextsOf(id)).toEqual([]);
    await eventually(
      () => receiver.received.find(({ body }) => body.data.transaction.id === id),
      (found) => found !== undefined,
    );
    expect(await collector.trace(traceId, 0)).toEqual([]);
  });

  it("are stored for a week", async () => {
    const id = await create(`00-${newTrace()}-${parentSpanId}-01`);
    await removeOldContexts(service.database, Date.now() + 6 * 86_400_000);
    expect(await contextsOf(id)).toHaveLength(2);
    await removeOldContexts(service.database, Date.now() + 8 * 86_400_000);
    expect(await contextsOf(id)).toEqual([]);
  });

  it("are dropped, and delay nothing, if the collector is gone", async () => {
    await collector.stop();
    const id = await create(`00-${newTrace()}-${parentSpanId}-01`);
    expect((await hooks.api.read(id)).body.state).toBe("completed");
    await eventually(
      async () => (await readMetrics(service)).value("bursar_spans_total", { result: "dropped" }) ?? 0,
      (dropped) => dropped > 0,
    );
  });
});
