import { readId, type WebhookEndpointStats } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { removeOldDeliveries } from "../../../src/store/webhooks/webhook-retention.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import {
  ok,
  startWebhookReceiver,
  status,
  type WebhookReceiver,
} from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const service = await inspectSharedService();

describe("how a webhook endpoint is doing", () => {
  let receiver: WebhookReceiver;
  let tenantId: string;
  let hooks: ReturnType<typeof webhooksOf>;
  let endpoint: { id: string };
  let other: { id: string };
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    const owner = await service.createTenant("1000");
    tenantId = readId("tnt", owner.tenantId) ?? "";
    hooks = webhooksOf(service, await service.token(owner));
    endpoint = await hooks.createEndpoint(`${receiver.url}/hook`);
    other = await hooks.createEndpoint(`${receiver.url}/wallets`, ["wallet.updated"]);
    for (const _ of [1, 2, 3]) await hooks.transact();
    await receiver.arrived("/hook", 3);
    await allDelivered(3);
    receiver.answerWith(status(500));
    await hooks.transact();
    await receiver.arrived("/hook", 4);
  });
  afterAll(() => receiver.stop());

  const allDelivered = (count: number) =>
    eventually(
      () => hooks.list(`state=delivered&endpoint_id=${endpoint.id}`),
      (found) => found.length === count,
    );
  const stats = async (id = endpoint.id, query = ""): Promise<WebhookEndpointStats> =>
    (await hooks.send("GET", `/v1/webhook-endpoints/${id}/stats${query}`)).body;
  const replayable = async (query: string, id = endpoint.id) =>
    await hooks.send("GET", `/v1/webhook-endpoints/${id}/replay${query}`);

  it("shows attempts by hour, their outcomes, and what waits", async () => {
    const shown = await eventually(stats, ({ attempts }) => attempts === 4);
    expect(shown).toMatchObject({ endpoint_id: endpoint.id, delivered: 3, exhausted: 0, success_rate: 0.75 });
    const sum = (name: "attempts" | "delivered") =>
      shown.hours.reduce((total, hour) => total + hour[name], 0);
    expect([sum("attempts"), sum("delivered")]).toEqual([4, 3]);
    for (const { start, latency_ms, latency_ms_max } of shown.hours) {
      expect(start).toMatch(/:00:00\.000Z$/);
      expect(latency_ms).toBeLessThanOrEqual(latency_ms_max);
    }
    expect(shown.latency).toMatchObject({ sample: 3 });
    expect(shown.pending).toMatchObject({ count: 1, has_more: false });
    const { oldest_at, next_attempt_at } = shown.pending;
    expect(Date.parse(oldest_at ?? "")).toBeLessThanOrEqual(Date.now());
    expect(Date.parse(next_attempt_at ?? "")).toBeGreaterThan(Date.parse(oldest_at ?? ""));
  });

  it("shows nothing of other endpoints", async () => {
    expect(await stats(other.id)).toMatchObject({
      attempts: 0,
      success_rate: null,
      hours: [],
      latency: null,
      pending: { count: 0, oldest_at: null, next_attempt_at: null },
    });
  });

  it("counts what can be sent again, until it is", async () => {
    const [waiting] = await hooks.list(`state=pending&endpoint_id=${endpoint.id}`);
    receiver.answerWith(status(410));
    await hooks.send("POST", `/v1/webhook-deliveries/${waiting?.id}/resend`);
    await eventually(stats, ({ exhausted }) => exhausted === 1);
    expect((await stats()).resendable).toEqual({ count: 1, has_more: false });
    receiver.answerWith(ok);
    await hooks.send("POST", `/v1/webhook-endpoints/${endpoint.id}/enable`);
    const resent = await hooks.send("POST", "/v1/webhook-deliveries/resend-failed", {
      endpoint_id: endpoint.id,
    });
    expect(resent.body.resent).toBe(1);
    expect((await stats()).resendable.count).toBe(0);
  });

  it("counts what a replay would send, and the replay sends as many", async () => {
    const { body } = await replayable("?from_sequence=2");
    const replayed = await hooks.send("POST", "/v1/webhook-deliveries/replay", {
      endpoint_id: endpoint.id,
      from_sequence: 2,
    });
    expect(body).toMatchObject({ from_sequence: 2, count: replayed.body.resent, has_more: false });
    expect((await replayable("?from_sequence=1", other.id)).body.count).toBe(0);
    for (const beyond of ["9007199254740991", "1e400"])
      expect((await replayable(`?from_sequence=${beyond}`)).body).toMatchObject({
        from_sequence: Number.MAX_SAFE_INTEGER,
        count: 0,
        last_sequence: null,
      });
  });

  it.each(["?hours=0", "?hours=721", "?hours=1e9", "?hours=x", "?hours=-1", "?from=2020-01-01"])(
    "refuses %s",
    async (query) => {
      const { status: refused, body } = await hooks.send(
        "GET",
        `/v1/webhook-endpoints/${endpoint.id}/stats${query}`,
      );
      expect([refused, body.error.code]).toEqual([400, "INVALID_REQUEST"]);
    },
  );

  it.each(["", "?from_sequence=0", "?from_sequence=-1", "?from_sequence=1.5"])(
    "refuses to count from %s",
    async (query) => {
      expect((await replayable(query)).status).toBe(400);
    },
  );

  it("loses hours that are older than deliveries are retained", async () => {
    const id = readId("whe", endpoint.id) ?? "";
    await service.database.query(sql`
      INSERT INTO webhook_hours VALUES (${tenantId}, ${id}, now() - interval '60 hours', 1, 1, 0, 1, 1)`);
    // Of a tenant without endpoints and deliveries.
    await service.database.query(sql`
      INSERT INTO webhook_hours VALUES (gen_random_uuid(), ${id}, now() - interval '60 hours', 1, 1, 0, 1, 1)`);
    expect((await stats(endpoint.id, "?hours=720")).hours.length).toBeGreaterThan(1);
    await removeOldDeliveries(service.database, {
      before: new Date(Date.now() - 48 * 3_600_000),
      isStopping: () => false,
      onFailure: (_, error) => {
        throw error;
      },
    });
    const starts = (await stats(endpoint.id, "?hours=720")).hours.map(({ start }) => Date.parse(start));
    expect(Math.min(...starts)).toBeGreaterThan(Date.now() - 3 * 3_600_000);
    const left = await service.database.query(sql`
      SELECT FROM webhook_hours WHERE start < now() - interval '48 hours'`);
    expect(left).toEqual([]);
  });
});
