import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";
import { openStream, refusedStream } from "../../harness/stream/stream-client.js";

describe("access to the stream", () => {
  let service: TestService;
  let tenant: TestClient;
  let token: string;
  beforeAll(async () => {
    service = await startTestService({ BURSAR_STREAM_ALLOWED_ORIGINS: "https://app.example" });
    tenant = await service.createTenant();
    token = await service.token(tenant);
  });
  afterAll(() => service.stop());

  const ticketOf = async (by = token) => {
    const response = await service.call("POST", "/v1/stream/tickets", by);
    expect(response.status).toBe(201);
    expect(response.headers.get("cache-control")).toBe("no-store");
    return ((await response.json()) as { ticket: string }).ticket;
  };

  it("sends hello to a client with a token, with the subprotocol and the request id", async () => {
    const stream = await openStream(service.url, { token, headers: { "x-request-id": "my-own-id" } });
    expect(stream.ws.protocol).toBe("bursar.v1.json");
    expect(stream.messages[0]).toEqual({
      type: "hello",
      connection_id: expect.stringMatching(/^con_/),
      server_time: expect.any(String),
      epoch: expect.stringMatching(/^epo_/),
      heartbeat_interval_ms: 25_000,
      expires_at: expect.any(String),
      limits: {
        message_bytes: 65_536,
        messages_per_second: 20,
        subscriptions: 64,
        buffer_bytes: 1_048_576,
      },
    });
    stream.ws.close();
    await stream.closed;
    expect(service.logLines.some((line) => /my-own-id.*stream opened/.test(line))).toBe(true);
  });

  it("refuses before the upgrade, in the error format of the contract", async () => {
    const narrow = await service.token(tenant, "wallets:read");
    const refusals = {
      anonymous: await refusedStream(service.url, {}),
      forged: await refusedStream(service.url, { token: "forged" }),
      narrow: await refusedStream(service.url, { token: narrow }),
      origin: await refusedStream(service.url, { token, headers: { origin: "https://evil.example" } }),
      ticket: await refusedStream(service.url, { ticket: "x.y" }),
      key: await refusedStream(service.url, { token, headers: { "sec-websocket-key": "short" } }),
      version: await refusedStream(service.url, { token, headers: { "sec-websocket-version": "7" } }),
      protocol: await refusedStream(service.url, {
        token,
        headers: { "sec-websocket-protocol": "mqtt" },
      }),
    };
    expect(
      Object.fromEntries(
        Object.entries(refusals).map(([name, { status, error }]) => [name, [status, error.code]]),
      ),
    ).toEqual({
      anonymous: [401, "UNAUTHENTICATED"],
      forged: [401, "TOKEN_INVALID"],
      narrow: [403, "INSUFFICIENT_SCOPE"],
      origin: [403, "ORIGIN_NOT_ALLOWED"],
      ticket: [401, "TICKET_INVALID"],
      key: [400, "INVALID_REQUEST"],
      version: [426, "UPGRADE_REQUIRED"],
      protocol: [400, "INVALID_REQUEST"],
    });
    for (const { headers, error } of Object.values(refusals)) {
      expect(headers["x-request-id"]).toBe(error.request_id);
      expect(headers["bursar-version"]).toBeDefined();
      expect(headers["connection"]).toBe("close");
    }
    expect(refusals.anonymous.headers["www-authenticate"]).toBe('Bearer realm="bursar"');
  });

  it("writes refusals to the audit log", async () => {
    const narrow = await service.token(tenant, "audit:read");
    await refusedStream(service.url, { token: narrow });
    const entries = async () => (await service.call("GET", "/v1/audit", narrow)).text();
    await eventually(entries, (text) => text.includes('"action":"GET /v1/stream"'));
  });

  it("counts streams in the metrics", async () => {
    const value = async (name: string) => {
      const text = await (await fetch(`${service.url}/metrics`)).text();
      return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
    };
    const opened = await value("bursar_stream_opened_total");
    const stream = await openStream(service.url, { token });
    expect(await value("bursar_stream_opened_total")).toBe(opened + 1);
    expect(await value("bursar_stream_open")).toBeGreaterThanOrEqual(1);
    expect(await value("bursar_stream_cut_total")).toBe(0);
    stream.ws.close();
  });

  it("answers a request without an upgrade with 426", async () => {
    const response = await service.call("GET", "/v1/stream", token);
    expect(response.status).toBe(426);
    expect(response.headers.get("upgrade")).toBe("websocket");
    expect(await response.json()).toMatchObject({ error: { code: "UPGRADE_REQUIRED" } });
  });

  it("accepts pages of its own origin and of configured origins", async () => {
    const names = ["localhost", "[::1]"].map((name) => service.url.replace("127.0.0.1", name));
    for (const origin of [service.url, ...names, "https://app.example"]) {
      const stream = await openStream(service.url, { token, headers: { origin } });
      stream.ws.close();
    }
  });

  it("accepts a ticket once, in any process", async () => {
    const other = await service.another();
    const ticket = await ticketOf();
    const attempts = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        openStream(index % 2 === 0 ? service.url : other.url, { ticket }).catch(() => undefined),
      ),
    );
    expect(attempts.filter((stream) => stream !== undefined)).toHaveLength(1);
    expect((await refusedStream(service.url, { ticket })).error.code).toBe("TICKET_INVALID");
    for (const stream of attempts) stream?.ws.close();
    await other.stop();
  });

  it("refuses a ticket whose content was changed", async () => {
    const good = Buffer.from(await ticketOf(), "base64url");
    const changed = Buffer.from(good);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    for (const bytes of [changed, good.subarray(0, -1), good.subarray(1), Buffer.concat([good, good])]) {
      const ticket = bytes.toString("base64url");
      expect((await refusedStream(service.url, { ticket })).status).toBe(401);
    }
  });

  it("issues tickets that reveal nothing about the client, the tenant or the token", async () => {
    const ticket = await ticketOf();
    const text = ticket
      .split(".")
      .map((part) => Buffer.from(part, "base64url").toString("latin1"))
      .join();
    for (const part of ["clientId", "expiresAtMs", "scopes", tenant.client.id, tenant.client.tenantId])
      expect(text).not.toContain(part);
  });

  it("ends a stream when its token is revoked or its client disabled", async () => {
    const create = async (name: string) => {
      const body = { name, scopes: ["events:read"] };
      const response = await service.call("POST", "/v1/clients", token, body);
      return (await response.json()) as { id: string; secret: string };
    };
    const disabled = await create("disabled");
    const revoked = await create("revoked");
    const tokenOf = ({ id, secret }: { id: string; secret: string }) =>
      service.token({ clientId: id, secret });
    const revokedToken = await tokenOf(revoked);
    const streams = await Promise.all([
      openStream(service.url, { token: await tokenOf(disabled) }),
      openStream(service.url, { token: revokedToken }),
      // Opened with a ticket of the revoked token.
      openStream(service.url, { ticket: await ticketOf(revokedToken) }),
    ]);
    await service.call("PATCH", `/v1/clients/${disabled.id}`, token, { state: "disabled" });
    await fetch(`${service.url}/oauth/revoke`, {
      method: "POST",
      body: new URLSearchParams({
        token: revokedToken,
        client_id: revoked.id,
        client_secret: revoked.secret,
      }),
    });
    const ends = await Promise.all(streams.map(({ closed }) => closed));
    expect(ends).toEqual(Array(3).fill({ code: 4401, reason: "TOKEN_REVOKED" }));
  });

  it("ends a stream with 1008 when its client loses the scope", async () => {
    const body = { name: "narrowed", scopes: ["events:read", "wallets:read"] };
    const response = await service.call("POST", "/v1/clients", token, body);
    const { id, secret } = (await response.json()) as { id: string; secret: string };
    const stream = await openStream(service.url, { token: await service.token({ clientId: id, secret }) });
    await service.call("PATCH", `/v1/clients/${id}`, token, { scopes: ["wallets:read"] });
    expect(await stream.closed).toEqual({ code: 1008, reason: "INSUFFICIENT_SCOPE" });
  });

  it("ignores a request to upgrade to another protocol", async () => {
    const post = (path: string, upgrade: string) =>
      new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
        const body = JSON.stringify({ name: "upgraded", purpose: "payout" });
        const call = request(service.url + path, {
          method: "POST",
          headers: {
            authorization: `Bearer ${token}`,
            "content-type": "application/json",
            "content-length": body.length,
            connection: "Upgrade",
            upgrade,
          },
        });
        call.on("error", reject);
        call.on("response", async (answer) =>
          resolve({ status: answer.statusCode, body: Buffer.concat(await answer.toArray()).toString() }),
        );
        call.write(body.slice(0, 10));
        void sleep(50).then(() => call.end(body.slice(10)));
      });
    expect(await post("/v1/wallets", "h2c")).toMatchObject({ status: 202 });
    expect(await post("/v1/wallets", "websocket")).toMatchObject({ status: 202 });
    expect(await post("/v1/nothing", "websocket")).toMatchObject({ status: 404 });
    expect(await post("/v1/stream", "websocket")).toMatchObject({ status: 405 });
  });
});
