import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import type { InspectableService } from "../../harness/service/test-service.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

let service: InspectableService;
let receiver: WebhookReceiver;

beforeAll(async () => {
  service = await inspectSharedService();
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.stop());

const path = "/v1/webhook-endpoints";

/** A tenant with a client that may read everything, and one with these scopes alone. */
async function setUp(scopes: string[]) {
  const admin = await service.createTenant("1000");
  const adminToken = await service.token(admin);
  const made = await service.call("POST", "/v1/clients", adminToken, { name: "integration", scopes });
  const { id, secret } = (await made.json()) as { id: string; secret: string };
  const own = await service.token({ clientId: id, secret });
  return {
    adminId: admin.clientId,
    narrowId: id,
    full: webhooksOf(service, adminToken),
    narrow: webhooksOf(service, own),
  };
}

describe("an endpoint whose URL a client has changed that may not read transactions", () => {
  it("receives none after a client that may read them has chosen its events", async () => {
    const { full, narrow, narrowId } = await setUp(["webhooks:manage"]);
    const { id } = await full.createEndpoint(`${receiver.url}/owner`, ["transaction.updated"]);
    await narrow.send("PATCH", `${path}/${id}`, { url: `${receiver.url}/mover` });
    await narrow.send("POST", `${path}/${id}/verify`);
    const events = ["transaction.updated", "wallet.updated"];
    const refused = await full.send("PATCH", `${path}/${id}`, { events });
    expect([refused.status, refused.body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect(refused.body.error.message).toContain(`acts for ${narrowId}`);
    const chosen = await full.send("PATCH", `${path}/${id}`, { events: ["*"], description: "all" });
    expect(chosen.body).toMatchObject({ client_id: narrowId, state: "enabled", events: ["*"], secret: null });
    await full.transact();
    await eventually(
      () => full.list(`endpoint_id=${id}&state=exhausted`),
      (found) => found.length >= 1,
    );
    expect(receiver.received.filter((one) => one.path === "/mover")).toEqual([]);
  });

  it("is never that of the other client, also if both change it at once", async () => {
    const { full, narrow, adminId } = await setUp(["webhooks:manage"]);
    for (let round = 0; round < 8; round += 1) {
      const { id } = await full.registerEndpoint(`${receiver.url}/raced`, ["transaction.updated"]);
      await Promise.all([
        narrow.send("PATCH", `${path}/${id}`, { url: `${receiver.url}/mover` }),
        full.send("PATCH", `${path}/${id}`, { events: ["transaction.updated", "order.updated"] }),
      ]);
      const { url, client_id } = await full.readEndpoint(id);
      expect(url).toBe(`${receiver.url}/mover`);
      expect(client_id).not.toBe(adminId);
    }
  });

  it("acts for the other client once that one has named the URL, with a secret that only it knows", async () => {
    const { full, narrow, adminId, narrowId } = await setUp(["webhooks:manage"]);
    const url = `${receiver.url}/named-again`;
    const endpoint = await narrow.createEndpoint(url);
    expect(endpoint.client_id).toBe(narrowId);
    const taken = await full.send("PATCH", `${path}/${endpoint.id}`, {
      url,
      events: ["transaction.updated"],
    });
    expect(taken.body).toMatchObject({ client_id: adminId, state: "enabled", secret: expect.any(String) });
    await full.transact();
    const [arrived] = await receiver.arrived("/named-again", 1);
    const [text, headers] = [arrived?.text ?? "", arrived?.headers ?? {}];
    new Webhook(taken.body.secret).verify(text, headers);
    expect(() => new Webhook(endpoint.secret).verify(text, headers)).toThrow();
    const again = await full.send("PATCH", `${path}/${endpoint.id}`, { url });
    expect(again.body).toMatchObject({ client_id: adminId, secret: null });
  });
});

describe("a client that may not read transactions", () => {
  it("does not choose them for the endpoint of another, by name or with all kinds", async () => {
    const { full, narrow, adminId } = await setUp(["webhooks:manage", "wallets:read"]);
    const { id } = await full.registerEndpoint("https://receiver.example/wallets", ["wallet.updated"]);
    for (const events of [["*"], ["wallet.updated", "transaction.updated"]]) {
      const refused = await narrow.send("PATCH", `${path}/${id}`, { events });
      expect([refused.status, refused.body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    }
    await full.send("PATCH", `${path}/${id}`, { events: ["wallet.updated", "order.updated"] });
    const same = { events: ["order.updated", "wallet.updated"], description: "described" };
    expect((await narrow.send("PATCH", `${path}/${id}`, same)).body).toMatchObject({ client_id: adminId });
    const fewer = await narrow.send("PATCH", `${path}/${id}`, { events: ["wallet.updated"] });
    expect(fewer.body).toMatchObject({ client_id: adminId, events: ["wallet.updated"], secret: null });
  });

  it("knows no secret of an endpoint that begins to receive them later", async () => {
    const { full, narrow, adminId } = await setUp(["webhooks:manage", "wallets:read"]);
    const url = "https://receiver.example/rotated";
    const { id } = await full.registerEndpoint(url, ["wallet.updated"]);
    const rotated = await narrow.send("POST", `${path}/${id}/rotate-secret`, {});
    expect(rotated.body.webhook_endpoint.client_id).toBe(adminId);
    const events = ["wallet.updated", "transaction.updated"];
    const refused = await full.send("PATCH", `${path}/${id}`, { events });
    expect([refused.status, refused.body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    const named = await full.send("PATCH", `${path}/${id}`, { url, events });
    expect(named.body).toMatchObject({ events, client_id: adminId, old_secret_until: null });
    expect(named.body.secret).toMatch(/^whsec_/);
    expect(named.body.secret).not.toBe(rotated.body.secret);
  });
});
