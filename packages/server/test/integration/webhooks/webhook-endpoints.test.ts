import { readId } from "@bursar/protocol";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import {
  startWebhookReceiver,
  status,
  type WebhookReceiver,
} from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

const service = await inspectSharedService();

describe("webhook endpoints", () => {
  let receiver: WebhookReceiver;
  let hooks: ReturnType<typeof webhooksOf>;
  beforeAll(async () => {
    receiver = await startWebhookReceiver();
    hooks = webhooksOf(service, await service.token(await service.createTenant("1000")));
  });
  afterAll(async () => {
    await receiver.stop();
  });

  const path = "/v1/webhook-endpoints";

  it("are created, listed, read and changed; the secret is shown once", async () => {
    const created = await hooks.send("POST", path, {
      url: "https://receiver.example/hook",
      events: ["transaction.updated"],
      description: "the ledger of the shop",
    });
    expect(created.status).toBe(201);
    const { secret, key_id, ...endpoint } = created.body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(key_id).toMatch(/^whk_[\w-]{22}$/);
    expect(created.headers.get("location")).toBe(`${path}/${endpoint.id}`);
    expect(endpoint).toMatchObject({ object: "webhook_endpoint", state: "pending", version: 1 });
    expect((await hooks.send("GET", `${path}/${endpoint.id}`)).body).toEqual(endpoint);
    expect((await hooks.send("GET", path)).body.data).toContainEqual(endpoint);
    const changed = await hooks.send("PATCH", `${path}/${endpoint.id}`, { description: null, events: ["*"] });
    expect(changed.body).toMatchObject({ description: null, events: ["*"], version: 2, url: endpoint.url });
    const [stored] = await secretsOf(endpoint.id);
    expect(stored?.includes(Buffer.from(secret.slice("whsec_".length), "base64"))).toBe(false);
  });

  it("leave an audit entry for each test, and for each challenge that is not answered", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const own = webhooksOf(service, token);
    const { id } = await own.createEndpoint(`${receiver.url}/audited`);
    expect((await own.send("POST", `${path}/${id}/test`)).status).toBe(200);
    const silent = await own.registerEndpoint("http://127.0.0.1:1/nobody");
    for (let count = 0; count < 2; count++)
      expect((await own.send("POST", `${path}/${silent.id}/verify`)).body).toMatchObject({ verified: false });
    const entries = await eventually(
      async () => {
        const listed = await service.call("GET", "/v1/audit?limit=200", token);
        const { data } = (await listed.json()) as { data: Record<string, unknown>[] };
        return data.filter(({ object }) => object === id || object === silent.id);
      },
      (found) =>
        found.some(
          ({ action, outcome }) => `${action}` === "webhook_endpoint.verify" && outcome === "refused",
        ) && found.some(({ action }) => action === "webhook_endpoint.test"),
    );
    const client_id = owner.clientId;
    expect(entries).toContainEqual(
      expect.objectContaining({
        action: "webhook_endpoint.test",
        object: id,
        outcome: "succeeded",
        client_id,
      }),
    );
    expect(entries).toContainEqual(
      expect.objectContaining({
        action: "webhook_endpoint.verify",
        object: silent.id,
        outcome: "refused",
        client_id,
      }),
    );
  });

  it("honour an idempotency key, with the original response and no secret", async () => {
    const body = { url: "https://receiver.example/once" };
    const first = await hooks.send("POST", path, body, { "idempotency-key": "endpoint-1" });
    await hooks.send("PATCH", `${path}/${first.body.id}`, { description: "later" });
    const again = await hooks.send("POST", path, body, { "idempotency-key": "endpoint-1" });
    expect(again.body).toEqual({ ...first.body, secret: null, key_id: null });
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    const other = { url: "https://receiver.example/twice" };
    const reused = await hooks.send("POST", path, other, { "idempotency-key": "endpoint-1" });
    expect([reused.status, reused.body.error.code]).toEqual([422, "IDEMPOTENCY_KEY_REUSED"]);
  });

  it.each([
    ["http://receiver.example/hook"],
    ["https://10.0.0.1/hook"],
    ["https://user:password@receiver.example/"],
    ["https://metadata.internal/"],
    ["ftp://receiver.example/"],
    ["not a url"],
  ])("refuse %s, when they are created and when they are changed", async (url) => {
    const created = await hooks.send("POST", path, { url });
    expect([created.status, created.body.error.code]).toEqual([422, "WEBHOOK_URL_REFUSED"]);
    expect(created.body.error.details).toEqual([{ path: "body.url", reason: expect.any(String) }]);
    const { id } = await hooks.registerEndpoint("https://receiver.example/");
    const changed = await hooks.send("PATCH", `${path}/${id}`, { url });
    expect([changed.status, changed.body.error.code]).toEqual([422, "WEBHOOK_URL_REFUSED"]);
  });

  it.each([
    [{ url: "https://receiver.example", events: [] }],
    [{ url: "https://receiver.example", events: ["everything"] }],
    [{ url: "https://receiver.example", events: ["*", "*"] }],
    [{ events: ["*"] }],
    [{ url: "https://receiver.example", secret: "whsec_mine" }],
  ])("refuse %j", async (body) => {
    const answer = await hooks.send("POST", path, body);
    expect([answer.status, answer.body.error.code]).toEqual([400, "INVALID_REQUEST"]);
  });

  it("can be tested, with the receiver's response in the result", async () => {
    const endpoint = await hooks.createEndpoint(`${receiver.url}/tested`);
    const good = await hooks.send("POST", `${path}/${endpoint.id}/test`);
    expect(good.body).toMatchObject({ delivered: true, status: 200, answer: "thanks", error: null });
    const [received] = await receiver.arrived("/tested", 1);
    expect(received?.body).toMatchObject({
      event: "endpoint.test",
      delivery_id: good.body.delivery_id,
      sequence: null,
    });
    new Webhook(endpoint.secret).verify(received?.text ?? "", received?.headers ?? {});
    receiver.answerWith(status(404));
    const bad = await hooks.send("POST", `${path}/${endpoint.id}/test`);
    expect(bad.body).toMatchObject({ delivered: false, status: 404, answer: "status 404" });
    expect(await hooks.list(`endpoint_id=${endpoint.id}`)).toEqual([]);
  });

  it("report that their host was not found", async () => {
    const gone = await startWebhookReceiver();
    const { id } = await hooks.createEndpoint(`${gone.url}/nobody`);
    await gone.stop();
    const { body } = await hooks.send("POST", `${path}/${id}/test`);
    expect(body).toMatchObject({ delivered: false, status: null, answer: null, error: expect.any(String) });
  });

  it("receive nothing while they are disabled, and pending deliveries once they are enabled", async () => {
    receiver.answerWith(status(500));
    const own = webhooksOf(service, await service.token(await service.createTenant("1000")));
    const { id } = await own.createEndpoint(`${receiver.url}/paused`, ["transaction.updated"]);
    await own.createEndpoint(`${receiver.url}/witness`);
    await own.transact();
    await receiver.arrived("/paused", 1);
    const disabled = await own.send("POST", `${path}/${id}/disable`);
    expect(disabled.body).toMatchObject({ state: "disabled", disabled_reason: "requested", version: 3 });
    const again = await own.send("POST", `${path}/${id}/disable`);
    expect(again.body).toMatchObject({ version: 3, disabled_at: disabled.body.disabled_at });
    receiver.answerWith((_received, response) => response.end());
    await own.transact();
    await receiver.arrived("/witness", 3);
    expect(receiver.received.filter(({ path: at }) => at === "/paused")).toHaveLength(1);
    // Its next attempt is due now, and not seconds after the first.
    await service.database.query(
      sql`UPDATE pending_deliveries SET due_at = now() WHERE endpoint_id = ${readId("whe", id)}`,
    );
    const enabled = await own.send("POST", `${path}/${id}/enable`);
    expect(enabled.body).toMatchObject({ state: "enabled", disabled_reason: null, version: 4 });
    const [, waited] = await receiver.arrived("/paused", 2);
    expect(waited?.body.sequence).toBe(1);
  });

  it("are deleted together with their secrets", async () => {
    const { id } = await hooks.registerEndpoint("https://receiver.example/deleted");
    const deleted = await hooks.send("DELETE", `${path}/${id}`);
    expect([deleted.status, deleted.body.state]).toEqual([200, "deleted"]);
    for (const [method, at] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/enable"],
    ] as const) {
      const answer = await hooks.send(method, `${path}/${id}${at}`);
      expect([answer.status, answer.body.error.code]).toEqual([404, "WEBHOOK_ENDPOINT_NOT_FOUND"]);
    }
    const listed = (await hooks.send("GET", `${path}?limit=200`)).body.data;
    expect(listed.map((one: { id: string }) => one.id)).not.toContain(id);
    // Nothing refers to it, so it leaves nothing behind.
    expect(await secretsOf(id)).toEqual([]);
  });

  it("that deliveries name stay when they are deleted, without their secrets", async () => {
    const own = webhooksOf(service, await service.token(await service.createTenant("1000")));
    const { id } = await own.createEndpoint(`${receiver.url}/named`);
    const transaction = await own.transact();
    await receiver.arrived("/named", 1);
    expect((await own.send("DELETE", `${path}/${id}`)).body.state).toBe("deleted");
    expect(await secretsOf(id)).toEqual([Buffer.alloc(0)]);
    const [delivery] = await own.list(`endpoint_id=${id}`);
    expect((await own.readDelivery(delivery?.id ?? "")).request?.body).toContain(transaction);
  });

  it("that were deleted still answer the request that created them", async () => {
    const body = { url: "https://receiver.example/gone", events: ["wallet.updated"] };
    const create = () => hooks.send("POST", path, body, { "idempotency-key": "endpoint-2" });
    const first = await create();
    await hooks.send("DELETE", `${path}/${first.body.id}`);
    const again = await create();
    expect(again.body).toEqual({ ...first.body, secret: null, key_id: null });
    expect((await hooks.send("GET", `${path}/${first.body.id}`)).status).toBe(404);
  });

  it("have versions, and miss no event while they change often", async () => {
    const { id } = await hooks.registerEndpoint("https://receiver.example/versions");
    await hooks.send("PATCH", `${path}/${id}`, { description: "changed" });
    for (const action of ["disable", "enable", "disable"])
      expect((await hooks.send("POST", `${path}/${id}/${action}`)).status).toBe(200);
    const violated = (await auditLedger(service.database)).filter(({ violations }) => violations.length > 0);
    expect(violated).toEqual([]);
  });

  it("have an audit entry for every change", async () => {
    const { id } = await hooks.registerEndpoint("https://receiver.example/audited");
    await hooks.send("PATCH", `${path}/${id}`, { description: "seen" });
    await hooks.send("POST", `${path}/${id}/rotate-secret`, {});
    await hooks.send("POST", `${path}/${id}/disable`);
    await hooks.send("DELETE", `${path}/${id}`);
    const { data } = (await hooks.send("GET", "/v1/audit")).body;
    const own = data.filter((entry: { object: string }) => entry.object === id);
    expect(own.map((entry: { action: string }) => entry.action)).toEqual(
      ["delete", "disable", "rotate_secret", "change", "create"].map((verb) => `webhook_endpoint.${verb}`),
    );
  });

  it("leave their URLs in the audit log when they are moved or deleted", async () => {
    const [first, second] = ["https://thief.example/x?to=1", "https://receiver.example/moved"];
    const { body } = await hooks.send("POST", path, { url: first });
    await hooks.send("PATCH", `${path}/${body.id}`, { url: second });
    await hooks.send("DELETE", `${path}/${body.id}`);
    const { data } = (await hooks.send("GET", "/v1/audit")).body;
    const own = data.filter((entry: { object: string }) => entry.object === body.id);
    expect(own.map(({ objects }: { objects: string[] }) => objects)).toEqual([
      [body.id, second],
      [body.id, first, second],
      [body.id, first],
    ]);
  });

  /** The stored secrets of an endpoint. */
  async function secretsOf(shownId: string): Promise<Buffer[]> {
    const rows = await service.database.query<{ secret: Buffer }>(
      sql`SELECT secret FROM webhook_endpoints WHERE id = ${readId("whe", shownId)}`,
    );
    return rows.map(({ secret }) => secret);
  }
});
