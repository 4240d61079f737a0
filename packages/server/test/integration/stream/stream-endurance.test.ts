import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { createTcpProxy } from "../../harness/http/tcp-proxy.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { openStream, refusedStream } from "../../harness/stream/stream-client.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

const closingsOf = ({ logLines }: TestService) =>
  logLines.filter((line) => line.includes("stream closed")).map((line) => JSON.parse(line).code as number);

describe("a stream with heartbeats", () => {
  const folder = createTemporaryFolder("stream");
  let service: TestService;
  beforeAll(async () => {
    const config = join(folder, "bursar.yaml");
    writeFileSync(config, "stream:\n  heartbeat_ms: 500\n");
    service = await startTestService({ BURSAR_CONFIG: config });
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  it("gets heartbeats and pings, and stays open while it answers them", async () => {
    const stream = await openStream(service.url, {
      token: await service.token(await service.createTenant()),
    });
    let pings = 0;
    stream.ws.on("ping", () => {
      pings += 1;
    });
    for (let beat = 0; beat < 4; beat++) await stream.next("heartbeat");
    await eventually(
      () => pings,
      (count) => count >= 4,
    );
    expect(stream.ws.readyState).toBe(stream.ws.OPEN);
    stream.ws.close();
    await stream.closed;
  });

  it("is closed when the client has disappeared without closing", async () => {
    const { hostname, port } = new URL(service.url);
    const proxy = await createTcpProxy({ host: hostname, port: Number(port) });
    const stream = await openStream(`http://127.0.0.1:${proxy.port}`, {
      token: await service.token(await service.createTenant()),
    });
    const before = closingsOf(service).length;
    proxy.stall();
    await eventually(
      () => closingsOf(service).slice(before),
      (codes) => codes.includes(1006),
    );
    await proxy.cut();
    stream.ws.terminate();
  });
});

describe("a long-lived stream", () => {
  let service: TestService;
  let advancedMs = 0;
  beforeAll(async () => {
    // The service measures the database's time at its start, and follows this clock for the next minute.
    const monotonicMs = () => performance.now() + advancedMs;
    service = await startTestService({}, undefined, undefined, undefined, { monotonicMs });
  });
  afterAll(() => service.stop());

  it("gets a request for a new token a minute before the old one expires, and is closed with 4401 without it", async () => {
    const tenant = await service.createTenant();
    const token = await service.token(tenant);
    const [renewed, forgotten] = [
      await openStream(service.url, { token }),
      await openStream(service.url, { token }),
    ];
    expect(renewed.messages[0]?.expires_at).toBeDefined();
    advancedMs += 14 * 60_000 + 5000;
    const notice = await renewed.next("reauthenticate");
    expect(notice.expires_at).toBe(renewed.messages[0]?.expires_at);
    renewed.send({ type: "authenticate", id: "1", token: await service.token(tenant) });
    const { id, expires_at } = await renewed.next("authenticated");
    expect(id).toBe("1");
    expect(Date.parse(expires_at)).toBeGreaterThan(Date.parse(notice.expires_at));
    advancedMs += 60_000;
    expect(await forgotten.closed).toEqual({ code: 4401, reason: "TOKEN_EXPIRED" });
    expect(forgotten.messages.filter(({ type }) => type === "reauthenticate")).toHaveLength(1);
    renewed.send({ type: "subscribe", channel: "events" });
    await renewed.next("subscribed");
    renewed.ws.close();
    await renewed.closed;
  });

  it("is closed when it does not read, and resumes without a gap", async () => {
    const tenant = await service.createTenant("1000");
    const token = await service.token(tenant);
    const slow = await openStream(service.url, { token });
    const quick = await openStream(service.url, { token });
    for (const stream of [slow, quick]) {
      stream.send({ type: "subscribe", channel: "events", since: 0 });
      await stream.next("subscribed");
    }
    slow.ws.pause();
    // More than the buffers of both ends and of the operating system can hold.
    const metadata = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`key${n}`, "x".repeat(512)]));
    const total = 2000;
    for (let paid = 0; paid < total; paid += 50) {
      const transactions = Array.from({ length: 50 }, () => ({
        idempotency_key: randomUUID(),
        reference: "slow",
        asset: "USD",
        amount: "0.01",
        metadata,
      }));
      const response = await service.call("POST", "/v1/transactions/batch", token, { transactions });
      expect(response.status).toBe(202);
    }
    const isCut = () => service.logLines.some((line) => line.includes("reads too slowly"));
    await eventually(isCut, Boolean);
    slow.ws.resume();
    // The service waits briefly for the client to read the close frame; on a busy machine it may end the connection first.
    expect([
      { code: 1013, reason: "too slow" },
      { code: 1006, reason: "" },
    ]).toContainEqual(await slow.closed);
    await eventually(
      () => quick.sequences().length,
      (length) => length === total,
    );
    const resumed = await openStream(service.url, { token });
    resumed.send({ type: "subscribe", channel: "events", since: slow.sequences().at(-1) ?? 0 });
    await eventually(
      () => resumed.sequences().at(-1),
      (last) => last === total,
    );
    const everything = Array.from({ length: total }, (_, index) => index + 1);
    expect([...slow.sequences(), ...resumed.sequences()]).toEqual(everything);
    expect(quick.sequences()).toEqual(everything);
    for (const { ws } of [quick, resumed]) ws.terminate();
  });

  it("is closed with 1001 when the service stops, while new ones are refused", async () => {
    const other = await service.another();
    const token = await other.token(await other.createTenant());
    const streams = await Promise.all(Array.from({ length: 60 }, () => openStream(other.url, { token })));
    const lateToken = await other.token(await other.createTenant());
    const stopping = other.stop();
    const late = refusedStream(other.url, { token: lateToken }).then(
      ({ status }) => status,
      (error: NodeJS.ErrnoException) => error.code,
    );
    const ends = await Promise.all(streams.map(({ closed }) => closed));
    expect(ends).toEqual(Array(60).fill({ code: 1001, reason: "going away" }));
    expect([503, "ECONNREFUSED", "ECONNRESET"]).toContain(await late);
    await stopping;
  });
});
