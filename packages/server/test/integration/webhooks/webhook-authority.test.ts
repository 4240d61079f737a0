import { readId, type WebhookEndpoint } from "@bursar/protocol";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import type { InspectableService, TestClient } from "../../harness/service/test-service.js";
import {
  startWebhookReceiver,
  status,
  type WebhookReceiver,
} from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

let service: InspectableService;
let receiver: WebhookReceiver;

beforeAll(async () => {
  service = await inspectSharedService();
  receiver = await startWebhookReceiver();
});
afterAll(() => receiver.stop());

const path = "/v1/webhook-endpoints";

/** A tenant with an administrator, and a client that has only these scopes. */
async function setUp(scopes: string[]) {
  const admin = await service.createTenant("1000");
  const adminToken = await service.token(admin);
  const made = await service.call("POST", "/v1/clients", adminToken, { name: "integration", scopes });
  const { id, secret } = (await made.json()) as { id: string; secret: string };
  const own = await service.token({ clientId: id, secret });
  return { admin, id, hooks: webhooksOf(service, adminToken), narrow: webhooksOf(service, own), adminToken };
}

describe("a webhook endpoint of a client that may not read transactions", () => {
  it("receives none, at first, by a resend or by a replay of the whole log", async () => {
    const { hooks, narrow } = await setUp(["webhooks:manage"]);
    await hooks.transact();
    await eventually(
      () => hooks.send("GET", "/v1/events"),
      ({ body }) => body.data.length >= 1,
    );
    const { id } = await narrow.createEndpoint(`${receiver.url}/thief`);
    await hooks.transact();
    const replayed = await narrow.send("POST", "/v1/webhook-deliveries/replay", {
      endpoint_id: id,
      from_sequence: 1,
    });
    expect(replayed.body.resent).toBeGreaterThanOrEqual(1);
    const [withheld] = await eventually(
      () => narrow.list(`endpoint_id=${id}&state=exhausted`),
      (found) => found.length >= 2,
    );
    const resent = await narrow.send("POST", `/v1/webhook-deliveries/${withheld?.id}/resend`, {});
    const delivery = await narrow.deliveryIn("exhausted", resent.body.id);
    expect(delivery.attempts).toMatchObject([
      { status: null, error: expect.stringMatching(/^withheld: .* lacks the scope transactions:read$/) },
    ]);
    expect(receiver.received.filter((one) => one.path === "/thief")).toEqual([]);
    // It says nothing about the receiver.
    expect(await narrow.readEndpoint(id)).toMatchObject({ state: "enabled", failing_since: null });
  });

  it("cannot be registered for their kind by name", async () => {
    const { narrow } = await setUp(["webhooks:manage", "wallets:read"]);
    const asked = { url: `${receiver.url}/named`, events: ["wallet.updated", "transaction.updated"] };
    const refused = await narrow.send("POST", path, asked);
    expect([refused.status, refused.body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    const { id } = await narrow.createEndpoint(`${receiver.url}/named`, ["wallet.updated"]);
    const changed = await narrow.send("PATCH", `${path}/${id}`, { events: ["transaction.updated"] });
    expect([changed.status, changed.body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
  });

  it("gets no secret of an endpoint that receives them", async () => {
    const { hooks, narrow } = await setUp(["webhooks:manage", "wallets:read"]);
    const all = await hooks.createEndpoint(`${receiver.url}/all`);
    const wallets = await hooks.createEndpoint(`${receiver.url}/wallets`, ["wallet.updated"]);
    const refused = await narrow.send("POST", `${path}/${all.id}/rotate-secret`, {});
    expect([refused.status, refused.body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"]);
    expect((await narrow.send("POST", `${path}/${wallets.id}/rotate-secret`, {})).status).toBe(201);
    expect((await hooks.send("POST", `${path}/${all.id}/rotate-secret`, {})).status).toBe(201);
  });

  it("receives none after it has taken over the endpoint of another client", async () => {
    const { hooks, narrow, id: clientId } = await setUp(["webhooks:manage"]);
    const endpoint = await hooks.createEndpoint(`${receiver.url}/victim`);
    const moved = await narrow.send("PATCH", `${path}/${endpoint.id}`, { url: `${receiver.url}/taken` });
    expect(moved.body).toMatchObject({ state: "pending", client_id: clientId });
    await narrow.send("POST", `${path}/${endpoint.id}/verify`);
    await hooks.transact();
    await eventually(
      () => narrow.list(`endpoint_id=${endpoint.id}&state=exhausted`),
      (found) => found.length >= 1,
    );
    expect(receiver.received.filter((one) => one.path === "/taken")).toEqual([]);
  });
});

it("an endpoint that a token with few scopes registers does not receive what only its client may read", async () => {
  const admin = await service.createTenant("1000");
  const few = webhooksOf(service, await service.token(admin, "webhooks:manage"));
  const { id } = await few.createEndpoint(`${receiver.url}/few`);
  await webhooksOf(service, await service.token(admin)).transact();
  await eventually(
    () => few.list(`endpoint_id=${id}&state=exhausted`),
    (found) => found.length >= 1,
  );
  expect(receiver.received.filter((one) => one.path === "/few")).toEqual([]);
});

it("an endpoint receives nothing more soon after its client loses the scope", async () => {
  const { hooks, narrow, id, adminToken } = await setUp(["webhooks:manage", "transactions:read"]);
  const endpoint = await narrow.createEndpoint(`${receiver.url}/loses-the-scope`);
  await hooks.transact();
  await receiver.arrived("/loses-the-scope", 1);
  const change = { scopes: ["webhooks:manage"] };
  expect((await service.call("PATCH", `/v1/clients/${id}`, adminToken, change)).status).toBe(200);
  // The client is cached for at most a few seconds, so the first ones may still be sent.
  await eventually(
    async () => {
      await hooks.transact();
      return hooks.list(`endpoint_id=${endpoint.id}&state=exhausted`);
    },
    (found) => found.length >= 1,
  );
});

describe("an endpoint whose client is disabled", () => {
  it.each([
    [
      "the client is enabled",
      ({ id, adminToken }: Awaited<ReturnType<typeof setUp>>) =>
        service.call("PATCH", `/v1/clients/${id}`, adminToken, { state: "active" }),
    ],
    [
      "another client takes it over",
      async ({ hooks }: Awaited<ReturnType<typeof setUp>>, endpoint: WebhookEndpoint) =>
        hooks.send("PATCH", `${path}/${endpoint.id}`, { url: endpoint.url }),
    ],
  ])("says so, and what is caused meanwhile waits until %s", async (how, go) => {
    const tenant = await setUp(["webhooks:manage", "transactions:read"]);
    const { hooks, narrow, id, adminToken } = tenant;
    const at = `/stopped-until-${how.replaceAll(" ", "-")}`;
    const endpoint = await narrow.createEndpoint(receiver.url + at);
    await hooks.transact();
    await receiver.arrived(at, 1);
    await service.call("PATCH", `/v1/clients/${id}`, adminToken, { state: "disabled" });
    expect(await hooks.readEndpoint(endpoint.id)).toMatchObject({
      state: "disabled",
      disabled_reason: "client_disabled",
      client_id: id,
    });
    // The client is cached for at most a few seconds, so the first ones may still be sent.
    await eventually(
      async () => {
        await hooks.transact();
        return hooks.list(`endpoint_id=${endpoint.id}&state=pending`);
      },
      (found) => found.length >= 2,
    );
    expect(await hooks.list(`endpoint_id=${endpoint.id}&state=exhausted`)).toEqual([]);
    expect((await go(tenant, endpoint)).status).toBe(200);
    expect(await hooks.readEndpoint(endpoint.id)).toMatchObject({ state: "enabled", disabled_reason: null });
    await eventually(
      () => hooks.list(`endpoint_id=${endpoint.id}&state=pending`),
      (found) => found.length === 0,
    );
    expect(await hooks.list(`endpoint_id=${endpoint.id}&state=exhausted`)).toEqual([]);
  });

  it("does not keep the failed deliveries of other endpoints from being resent, however much waits for it", async () => {
    const { hooks, narrow, id, adminToken } = await setUp(["webhooks:manage"]);
    const endpoint = await narrow.createEndpoint(`${receiver.url}/stopped-full`);
    const endpointId = readId("whe", endpoint.id) ?? "";
    await service.database.query(sql`
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
      SELECT tenant_id, gen_random_uuid(), id, 1, 'transaction.updated', '2100-01-01'
      FROM webhook_endpoints, generate_series(1, 10000) WHERE id = ${endpointId}
    `);
    const resend = () =>
      hooks.send("POST", "/v1/webhook-deliveries/resend-failed", { created_after: "2020-01-01T00:00:00Z" });
    expect((await resend()).status).toBe(429);
    await service.call("PATCH", `/v1/clients/${id}`, adminToken, { state: "disabled" });
    expect((await resend()).status).toBe(202);
    await service.database.query(sql`DELETE FROM pending_deliveries WHERE endpoint_id = ${endpointId}`);
  });
});

describe("a new webhook endpoint", () => {
  let admin: TestClient;
  let hooks: ReturnType<typeof webhooksOf>;
  beforeAll(async () => {
    admin = await service.createTenant("1000");
    hooks = webhooksOf(service, await service.token(admin));
  });

  it("receives nothing before its receiver has answered a signed challenge", async () => {
    const endpoint = await hooks.registerEndpoint(`${receiver.url}/challenged`);
    expect(endpoint).toMatchObject({ state: "pending", verified_at: null, client_id: admin.clientId });
    await hooks.transact();
    await eventually(
      () => hooks.send("GET", "/v1/events"),
      ({ body }) => body.data.length >= 1,
    );
    const tested = await hooks.send("POST", `${path}/${endpoint.id}/test`);
    expect([tested.status, tested.body.error.code]).toEqual([409, "WEBHOOK_ENDPOINT_UNVERIFIED"]);
    const enabled = await hooks.send("POST", `${path}/${endpoint.id}/enable`);
    expect(enabled.body.state).toBe("pending");
    await hooks.send("POST", "/v1/webhook-deliveries/replay", { endpoint_id: endpoint.id, from_sequence: 1 });
    const verification = await hooks.send("POST", `${path}/${endpoint.id}/verify`);
    expect(verification.body).toMatchObject({
      verified: true,
      status: 200,
      error: null,
      webhook_endpoint: { state: "enabled", verified_at: expect.any(String) },
    });
    const challenges = receiver.challenges.filter((one) => one.path === "/challenged");
    expect(challenges).toHaveLength(1);
    const [challenge] = challenges;
    new Webhook(endpoint.secret).verify(challenge?.text ?? "", challenge?.headers ?? {});
    await receiver.arrived("/challenged", 1);
    await hooks.transact();
    await receiver.arrived("/challenged", 2);
    const again = await hooks.send("POST", `${path}/${endpoint.id}/verify`);
    expect(again.body).toMatchObject({ verified: true, status: null });
    expect(receiver.challenges.filter((one) => one.path === "/challenged")).toHaveLength(1);
  });

  it("stays pending if the receiver accepts everything, copies the request or fails", async () => {
    const { createServer } = await import("node:http");
    const answers: [string, number][] = [
      ["thanks", 200],
      ["", 204],
      ["COPY", 200],
      ["CHALLENGE", 500],
      ["CHALLENGE", 302],
    ];
    let next = 0;
    const server = createServer((request, response) => {
      let text = "";
      request.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        const [answer, code] = answers[next++] as [string, number];
        const { challenge } = JSON.parse(text).data;
        response.writeHead(code).end(answer.replace("COPY", text).replace("CHALLENGE", challenge));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const { id } = await hooks.registerEndpoint(`http://127.0.0.1:${port}/`);
    for (const [, code] of answers) {
      const { body } = await hooks.send("POST", `${path}/${id}/verify`);
      expect(body).toMatchObject({ verified: false, status: code, error: expect.any(String) });
    }
    expect(await hooks.readEndpoint(id)).toMatchObject({ state: "pending", verified_at: null });
    server.close();
    server.closeAllConnections();
  });

  it("has another secret and is pending again after its URL has changed", async () => {
    receiver.answerWith(status(500));
    const endpoint = await hooks.createEndpoint(`${receiver.url}/before`, ["transaction.updated"]);
    await hooks.transact();
    await receiver.arrived("/before", 1);
    const moved = await hooks.send("PATCH", `${path}/${endpoint.id}`, { url: `${receiver.url}/after` });
    expect(moved.body).toMatchObject({ state: "pending", verified_at: null, old_secret_until: null });
    expect(moved.body.secret).toMatch(/^whsec_/);
    expect(moved.body.secret).not.toBe(endpoint.secret);
    // Its next attempt is due now, and not seconds after the first.
    await service.database.query(
      sql`UPDATE pending_deliveries SET due_at = now() WHERE endpoint_id = ${readId("whe", endpoint.id)}`,
    );
    receiver.answerWith((_one, response) => response.end());
    await hooks.send("POST", `${path}/${endpoint.id}/verify`);
    const [waited] = await receiver.arrived("/after", 1);
    const [text, headers] = [waited?.text ?? "", waited?.headers ?? {}];
    new Webhook(moved.body.secret).verify(text, headers);
    expect(() => new Webhook(endpoint.secret).verify(text, headers)).toThrow();
    const same = await hooks.send("PATCH", `${path}/${endpoint.id}`, { url: `${receiver.url}/after` });
    expect(same.body as WebhookEndpoint & { secret: string | null }).toMatchObject({
      state: "enabled",
      secret: null,
    });
  });
});
