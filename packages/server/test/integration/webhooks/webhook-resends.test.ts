import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { readId } from "@bursar/protocol";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createResendStore } from "../../../src/store/webhooks/webhook-resends.js";
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

describe("webhook deliveries", () => {
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
  });
  afterEach(() => receiver.answerWith(ok));
  afterAll(async () => {
    await receiver.stop();
  });

  const tenant = async () => {
    const created = await service.createTenant("1000");
    const hooks = webhooksOf(service, await service.token(created));
    return { ...hooks, tenantId: readId("tnt", created.tenantId) ?? "" };
  };
  /** Some events, all delivered to one endpoint. */
  const delivered = async (path: string, count: number) => {
    const hooks = await tenant();
    const endpoint = await hooks.createEndpoint(receiver.url + path);
    for (let sent = 0; sent < count; sent++) {
      await hooks.transact();
      await receiver.arrived(path, sent + 1);
    }
    await eventually(
      () => hooks.list("state=delivered"),
      (found) => found.length === count,
    );
    return { hooks, endpoint };
  };

  it("are listed newest first, by every filter, a page at a time", async () => {
    const { hooks, endpoint } = await delivered("/listed", 5);
    const other = await hooks.createEndpoint(`${receiver.url}/listed-too`, ["wallet.updated"]);
    await hooks.send("POST", "/v1/wallets", { name: "new", purpose: "payout" });
    await eventually(
      () => hooks.list("state=delivered"),
      (found) => found.length === 7,
    );
    const sequences = async (query: string) => (await hooks.list(query)).map(({ sequence }) => sequence);
    expect((await sequences("")).slice(2)).toEqual([5, 4, 3, 2, 1]);
    expect(await sequences(`endpoint_id=${other.id}`)).toEqual([6]);
    expect(await sequences(`endpoint_id=${endpoint.id}&event=wallet.updated`)).toEqual([6]);
    expect(await sequences("sequence=3")).toEqual([3]);
    expect(await sequences("state=pending")).toEqual([]);
    expect(await sequences("state=exhausted")).toEqual([]);
    expect(await sequences("created_before=2020-01-01T00:00:00Z")).toEqual([]);
    expect(await sequences("created_after=2020-01-01T00:00:00Z&sequence=2")).toEqual([2]);
    const first = (await hooks.send("GET", "/v1/webhook-deliveries?limit=4")).body;
    const second = (await hooks.send("GET", `/v1/webhook-deliveries?limit=4&cursor=${first.next_cursor}`))
      .body;
    expect([...first.data, ...second.data]).toEqual(await hooks.list());
    expect(second.next_cursor).toBeNull();
    const wrong = await hooks.send("GET", "/v1/webhook-deliveries?endpoint_id=x");
    expect([wrong.status, wrong.body.error.code]).toEqual([400, "INVALID_REQUEST"]);
  });

  it("can be resent one by one, under a new id with a reference to the original", async () => {
    const { hooks } = await delivered("/resent", 1);
    const [original] = await hooks.list();
    const path = `/v1/webhook-deliveries/${original?.id}/resend`;
    const resent = await hooks.send("POST", path, undefined, { "idempotency-key": "resend-1" });
    expect(resent.status).toBe(202);
    expect(resent.body).toMatchObject({ state: "pending", repeats: original?.id, sequence: 1, attempts: [] });
    expect(resent.body.id).not.toBe(original?.id);
    const [first, second] = await receiver.arrived("/resent", 2);
    expect(second?.body).toEqual({ ...first?.body, delivery_id: resent.body.id });
    const again = await hooks.send("POST", path, undefined, { "idempotency-key": "resend-1" });
    expect([again.body.id, again.headers.get("idempotent-replayed")]).toEqual([resent.body.id, "true"]);
    await hooks.deliveryIn("delivered", resent.body.id);
    expect(await hooks.list()).toHaveLength(2);
    expect(
      (await hooks.send("POST", "/v1/webhook-deliveries/dlv_01h455vb4pex5vsknk084sn02q/resend")).body.error,
    ).toMatchObject({ code: "WEBHOOK_DELIVERY_NOT_FOUND" });
  });

  it("that failed can be resent together, once", async () => {
    const hooks = await tenant();
    const { id } = await hooks.createEndpoint(`${receiver.url}/failed`);
    // A response of 410 fails a delivery immediately.
    receiver.answerWith(status(410));
    await hooks.transact();
    await eventually(
      () => hooks.list("state=exhausted"),
      (found) => found.length === 1,
    );
    receiver.answerWith(ok);
    await hooks.send("POST", `/v1/webhook-endpoints/${id}/enable`);
    const resend = (body: object) => hooks.send("POST", "/v1/webhook-deliveries/resend-failed", body);
    expect((await resend({ created_before: "2020-01-01T00:00:00Z" })).body).toEqual({
      resent: 0,
      has_more: false,
    });
    const done = await resend({ endpoint_id: id });
    expect([done.status, done.body]).toEqual([202, { resent: 1, has_more: false }]);
    await receiver.arrived("/failed", 2);
    expect((await resend({ endpoint_id: id })).body).toEqual({ resent: 0, has_more: false });
    const [failed] = await hooks.list("state=exhausted");
    const [repeat] = await eventually(
      () => hooks.list("state=delivered&sequence=1"),
      (found) => found.length === 1,
    );
    expect(repeat).toMatchObject({ repeats: failed?.id, endpoint_id: id });
    expect((await resend({})).status).toBe(400);
    expect((await resend({ endpoint_id: "whe_01h455vb4pex5vsknk084sn02q" })).status).toBe(404);
  });

  it("are replayed from a sequence on, in log order, even to an endpoint that was created later", async () => {
    const { hooks, endpoint } = await delivered("/replayed", 4);
    const late = await hooks.createEndpoint(`${receiver.url}/late`);
    const replay = (endpoint_id: string, from_sequence: number) =>
      hooks.send("POST", "/v1/webhook-deliveries/replay", { endpoint_id, from_sequence });
    expect((await replay(late.id, 1)).body).toEqual({ resent: 4, next_sequence: null });
    expect((await replay(endpoint.id, 3)).body).toEqual({ resent: 2, next_sequence: null });
    await receiver.arrived("/late", 4);
    await receiver.arrived("/replayed", 6);
    const repeats = (await hooks.list(`endpoint_id=${endpoint.id}`)).filter((one) => one.repeats !== null);
    for (const { repeats: original, sequence } of repeats)
      expect(await hooks.readDelivery(original ?? "")).toMatchObject({ sequence, endpoint_id: endpoint.id });
    expect(repeats.map(({ sequence }) => sequence).sort()).toEqual([3, 4]);
  });

  it("cost as many tokens of the quota as a request may send again, and are no more than it says", async () => {
    const { hooks, endpoint } = await delivered("/limited", 3);
    const replay = (limit?: number) =>
      hooks.send("POST", "/v1/webhook-deliveries/replay", {
        endpoint_id: endpoint.id,
        from_sequence: 1,
        ...(limit === undefined ? {} : { limit }),
      });
    const left = ({ headers }: { headers: Headers }) =>
      Number(/r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
    const limited = await replay(2);
    expect(limited.body).toEqual({ resent: 2, next_sequence: 3 });
    const whole = await replay();
    expect(whole.body).toEqual({ resent: 3, next_sequence: null });
    // A thousand cost a hundred tokens; some come back in the meantime.
    expect(left(limited) - left(whole)).toBeGreaterThan(50);
    expect((await replay(1001)).status).toBe(400);
  });

  it("are refused while ten thousand of the endpoint are waiting, and no other endpoint is affected", async () => {
    const { hooks, endpoint } = await delivered("/full", 1);
    const other = await hooks.createEndpoint(`${receiver.url}/not-full`);
    const [far, endpointId] = [new Date("2100-01-01"), readId("whe", endpoint.id) ?? ""];
    await service.database.query(sql`
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
      SELECT ${hooks.tenantId}, gen_random_uuid(), ${endpointId}, 1, 'transaction.updated', ${far}
      FROM generate_series(1, 10000)
    `);
    const replay = (endpoint_id: string) =>
      hooks.send("POST", "/v1/webhook-deliveries/replay", { endpoint_id, from_sequence: 1, limit: 1 });
    const refused = await replay(endpoint.id);
    expect([refused.status, refused.body.error.code]).toEqual([429, "WEBHOOK_BACKLOG_FULL"]);
    expect((await replay(other.id)).status).toBe(202);
    const resend = (body: object) => hooks.send("POST", "/v1/webhook-deliveries/resend-failed", body);
    expect((await resend({ created_after: "2020-01-01T00:00:00Z" })).status).toBe(429);
    expect((await resend({ endpoint_id: other.id })).status).toBe(202);
    await service.database.query(sql`
      DELETE FROM pending_deliveries WHERE tenant_id = ${hooks.tenantId} AND due_at = ${far}
    `);
    expect((await replay(endpoint.id)).status).toBe(202);
  });

  it("are replayed as often as requested, even while the first is in flight, and refer to the first one", async () => {
    const hooks = await tenant();
    const { id: endpoint_id } = await hooks.createEndpoint(`${receiver.url}/replayed-early`);
    const held: ServerResponse[] = [];
    receiver.answerWith((_received, response) => held.push(response));
    await hooks.transact();
    await receiver.arrived("/replayed-early", 1);
    const [first] = await hooks.list();
    const replay = () =>
      hooks.send("POST", "/v1/webhook-deliveries/replay", { endpoint_id, from_sequence: 1 });
    for (let times = 0; times < 3; times++)
      expect(await replay()).toMatchObject({ status: 202, body: { resent: 1 } });
    receiver.answerWith(ok);
    for (const response of held) response.end();
    const all = await eventually(
      () => hooks.list("state=delivered"),
      (found) => found.length === 4,
    );
    expect(await replay()).toMatchObject({ status: 202, body: { resent: 1 } });
    expect(all.map(({ repeats }) => repeats)).toEqual([first?.id, first?.id, first?.id, null]);
  });

  it("are not replayed if the log ends before the sequence", async () => {
    const hooks = await tenant();
    const { id: endpoint_id } = await hooks.createEndpoint(`${receiver.url}/bounded`);
    for (const from_sequence of [2 ** 53, 2 ** 63, 1e300])
      expect(
        await hooks.send("POST", "/v1/webhook-deliveries/replay", { endpoint_id, from_sequence }),
      ).toMatchObject({ status: 202, body: { resent: 0, next_sequence: null } });
    expect(await hooks.list("sequence=99999999999999999999")).toEqual([]);
  });

  it("are replayed in parts of bounded size", async () => {
    const { hooks, endpoint } = await delivered("/bounded", 3);
    const resends = createResendStore(withKeys(service.database, service.keys));
    const request = {
      tenantId: hooks.tenantId,
      action: "replay",
      request: undefined,
      audit: {
        tenantId: hooks.tenantId,
        occurredAt: new Date(),
        actor: "operator" as const,
        clientId: null,
        tokenId: null,
        action: "webhook_delivery.replay",
        object: null,
        outcome: "succeeded" as const,
        code: null,
        repeated: 1,
        requestId: randomUUID(),
        address: null,
      },
    };
    const endpointId = readId("whe", endpoint.id) ?? "";
    expect(await resends.replayEvents(request, endpointId, 1, 2)).toMatchObject({
      answer: { resent: 2, next_sequence: 3 },
    });
    expect(await resends.replayEvents(request, endpointId, 3, 2)).toMatchObject({
      answer: { resent: 1, next_sequence: null },
    });
    await receiver.arrived("/bounded", 6);
  });

  it("have ids in the order of their events", async () => {
    const { hooks } = await delivered("/ids", 3);
    const rows = await service.database.query<{ sequence: string }>(
      sql`SELECT sequence FROM finished_deliveries WHERE tenant_id = ${hooks.tenantId} ORDER BY id`,
    );
    expect(rows.map(({ sequence }) => sequence)).toEqual(["1", "2", "3"]);
  });
});
