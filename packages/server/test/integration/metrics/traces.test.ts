import { randomBytes } from "node:crypto";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodeTimers } from "../../../src/runtime/loops/timers.js";
import { sql } from "../../../src/store/core/sql.js";
import { removeOldContexts } from "../../../src/store/tracing/trace-contexts.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, type Trader } from "../../harness/markets/trader.js";
import { readMetrics } from "../../harness/metrics.js";
import { createSteppingNetwork } from "../../harness/rails/stepping-network.js";
import { createSteppingRail, steppingAssets } from "../../harness/rails/stepping-rail.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { startTraceCollector, type TraceCollector } from "../../harness/trace-collector.js";
import { createDepositTenant } from "../../harness/transactions/deposits-client.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const payment = { reference: "traced", asset: "USD", amount: "1" };
const parentSpanId = "00f067aa0ba902b7";

describe("traces", () => {
  let collector: TraceCollector;
  let receiver: WebhookReceiver;
  let service: TestService;
  let hooks: ReturnType<typeof webhooksOf>;
  const network = createSteppingNetwork(() => ({ reorganisations: 0, reverts: false, obeysCancel: true }));
  beforeAll(async () => {
    collector = await startTraceCollector();
    receiver = await startWebhookReceiver();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, BURSAR_DESTINATION_DELAY_SECONDS: "0" };
    const rails = { parts: [createSteppingRail({ network, timers: nodeTimers })], assets: steppingAssets };
    service = await startTestService(settings, undefined, undefined, rails);
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

  it("show an order from its request over each of its changes to the webhooks, also if another order fills it", async () => {
    const maker = await createTrader(service, { ETH: "10" });
    const taker = await createTrader(service, { USD: "10000" });
    await webhooksOf(service, maker.token).createEndpoint(`${receiver.url}/orders`, ["order.updated"]);
    const place = async (trader: Trader, body: object) => {
      const traceId = newTrace();
      const headers = { "idempotency-key": newTrace(), traceparent: `00-${traceId}-${parentSpanId}-01` };
      const wanted = { market: "ETH-USD", type: "limit", price: "2000", size: "1", ...body };
      const { body: accepted } = await trader.send("POST", "/v1/orders", wanted, headers);
      await trader.until(accepted.id, ({ state }) => state !== "pending");
      return { id: accepted.id, traceId };
    };
    const sold = await place(maker, { side: "sell" });
    const bought = await place(taker, { side: "buy" });
    const refused = await place(taker, { side: "buy", size: "100" });

    const spans = await collector.trace(sold.traceId, 5);
    const [request] = spans.filter(({ name }) => name === "POST /v1/orders");
    expect(request?.parentSpanId).toBe(parentSpanId);
    const changes = spans.filter(({ name }) => name === "match order");
    expect(changes.map(({ parentSpanId }) => parentSpanId)).toEqual([request?.spanId, request?.spanId]);
    expect(changes.map(({ attributes }) => attributes["bursar.order.state"])).toEqual(["open", "filled"]);
    expect(changes[1]?.attributes).toMatchObject({
      ...{ "bursar.order.id": sold.id, "bursar.order.market": "ETH-USD" },
      "bursar.order.previous_state": "open",
    });
    const deliveries = spans.filter(({ name }) => name === "POST webhook");
    expect(deliveries.map(({ parentSpanId }) => parentSpanId)).toEqual(changes.map(({ spanId }) => spanId));
    const [, filled] = await receiver.arrived("/orders", 2);
    expect(filled?.headers["traceparent"]).toBe(`00-${sold.traceId}-${deliveries[1]?.spanId}-01`);

    const stateOf = async ({ traceId }: { traceId: string }) =>
      (await collector.trace(traceId, 2)).map(({ attributes }) => attributes["bursar.order.state"]);
    expect(await stateOf(bought)).toContain("filled");
    expect(await stateOf(refused)).toContain("rejected");
  });

  it("show a deposit with its request, and record nothing if that is not to be recorded", async () => {
    const { bank, bodyOf } = await createDepositTenant(service);
    const deposit = async (flags: string) => {
      const traceId = newTrace();
      const headers = {
        "idempotency-key": newTrace(),
        traceparent: `00-${traceId}-${parentSpanId}-${flags}`,
      };
      const { body } = await bank.send("POST", "/v1/deposits", bodyOf(), headers);
      return { id: body.id, traceId };
    };
    const recorded = await deposit("01");
    const [settle] = (await collector.trace(recorded.traceId, 2)).filter(({ name }) =>
      name.startsWith("settle"),
    );
    expect(settle?.attributes).toMatchObject({
      ...{ "bursar.transaction.id": recorded.id, "bursar.transaction.kind": "deposit" },
      "bursar.transaction.state": "completed",
    });
    expect(await contextsOf(recorded.id)).toEqual([{ version: 2, length: 24 }]);
    expect(await contextsOf((await deposit("00")).id)).toEqual([]);
  });

  it("begin with a deposit that is seen on a network, and follow a payment there through its states", async () => {
    const tenant = await service.createTenant("100");
    const api = transactionsOf(service, await service.token(tenant));
    const { headers } = await api.send("GET", "/v1/policy");
    const policy = { rules: [], default: { action: "allow" } };
    await api.send("PUT", "/v1/policy", policy, { "if-match": headers.get("etag") ?? "" });
    const wallet = { name: "steps", purpose: "payout", network: "test:steps" };
    const created = await api.send("POST", "/v1/wallets", wallet, { "idempotency-key": newTrace() });
    const walletId = created.body.id;
    const spansOf = (id: string, count: number) =>
      eventually(
        () => {
          network.advance();
          return collector.spans.filter(({ attributes }) => attributes["bursar.transaction.id"] === id);
        },
        (found) => found.length >= count,
      );
    const receive = async (asset: string, amount: bigint) => {
      const [tenantId = "", wallet = ""] = [readId("tnt", tenant.tenantId), readId("wlt", walletId)];
      const transfer = { tenantId, walletId: wallet, asset, amount, fromAddress: "step1outside" };
      const reference = network.deposit(transfer);
      const found = await eventually(
        async () => {
          network.advance();
          const { body } = await api.send("GET", `/v1/transactions?reference=${reference}`);
          return (body as unknown as { data: { id: string; state: string }[] }).data[0];
        },
        (one) => one?.state === "completed",
      );
      return found?.id ?? "";
    };
    const [seen, settled] = await spansOf(await receive("STEP", 500n), 2);
    expect([seen?.name, seen?.parentSpanId, settled?.parentSpanId]).toEqual([
      ...["observe deposit", undefined],
      seen?.spanId,
    ]);
    expect(settled?.traceId).toBe(seen?.traceId);
    await receive("GAS", 100n);

    const traceId = newTrace();
    const payment = { reference: "out", asset: "STEP", amount: "1", source: { wallet_id: walletId } };
    const { body } = await api.send(
      ...(["POST", "/v1/transactions"] as const),
      { ...payment, destination: { address: "step1away" } },
      { "idempotency-key": newTrace(), traceparent: `00-${traceId}-${parentSpanId}-01` },
    );
    const steps = await spansOf(body.id, 4);
    expect(steps.map(({ attributes }) => attributes["bursar.transaction.state"])).toEqual([
      ...["processing", "broadcast", "confirming", "completed"],
    ]);
    expect(new Set(steps.map((step) => step.traceId))).toEqual(new Set([traceId]));
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
