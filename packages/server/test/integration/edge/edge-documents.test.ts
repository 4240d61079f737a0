import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { freePort } from "../../../src/embedded/free-port.js";
import { converse, listenForRawRequests, readAnswers } from "../../harness/http/raw-exchange.js";
import { createTestEdge } from "../../harness/http/test-edge.js";
import { startTestService } from "../../harness/service/test-service.js";

it.each(["/docs", "/docs/reference.js", "/docs/start.js", "/openapi.json", "/asyncapi.json"])(
  "%s is compressed, and not sent again to a client that has it",
  async (path) => {
    const { app } = await createTestEdge();
    const plain = await app.inject(path);
    const compressed = await app.inject({ url: path, headers: { "accept-encoding": "br, gzip" } });
    expect([plain.headers["content-encoding"], compressed.headers["content-encoding"]]).toEqual([
      undefined,
      "gzip",
    ]);
    expect(gunzipSync(compressed.rawPayload).equals(plain.rawPayload)).toBe(true);
    const refused = await app.inject({ url: path, headers: { "accept-encoding": "gzip;q=0" } });
    expect(refused.headers["content-encoding"]).toBeUndefined();
    const etag = String(plain.headers.etag);
    const again = await app.inject({ url: path, headers: { "if-none-match": etag } });
    expect([again.statusCode, again.rawPayload.length]).toEqual([304, 0]);
    await app.close();
  },
);

it("the documents count against the quota of the caller's address", async () => {
  const service = await startTestService({ "quotas.address_per_second": "1", "quotas.address_burst": "3" });
  const statuses: number[] = [];
  for (let count = 0; count < 8; count++)
    statuses.push((await fetch(`${service.url}/docs/reference.js`)).status);
  expect(statuses).toContain(429);
  await service.stop();
});

it("pipelined requests for another protocol are all answered, and the connection goes on", async () => {
  const { app } = await listenForRawRequests();
  const asking = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
  const last = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const received = await converse(app, (socket) => socket.write(asking + asking + asking + last));
  expect(readAnswers(received).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  await app.close();
});

it("many of them in one packet leave other connections their turns, and end the connection", async () => {
  const { app } = await listenForRawRequests();
  let turn = 0;
  let isDone = false;
  const count = () => {
    turn += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  const turns: number[] = [];
  app.server.on("request", () => turns.push(turn));
  const asking = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n";
  const received = await converse(app, (socket) => socket.write(asking.repeat(800)));
  isDone = true;
  const answers = readAnswers(received).map(({ status }) => status);
  expect(answers).toEqual(Array.from({ length: 32 }, () => 200));
  expect(new Set(turns).size).toBe(32);
  await app.close();
});

it.each([
  ["/healthz", 200],
  ["/%", 400],
])("too many pipelined requests are refused and logged once: %s", async (path, usual) => {
  const { app, logLines } = await listenForRawRequests();
  const asking = `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const received = await converse(app, (socket) => socket.write(asking.repeat(1500)));
  const statuses = readAnswers(received).map(({ status }) => status);
  // Those that arrive later are answered too, if others were answered before.
  expect(statuses.length).toBeGreaterThan(32);
  expect(statuses.length).toBeLessThan(200);
  expect(statuses.at(-1)).toBe(400);
  expect(new Set(statuses.slice(0, -1))).toEqual(new Set([usual]));
  expect(logLines.filter((line) => JSON.stringify(line).includes("MALFORMED_REQUEST")).length).toBeLessThan(
    2,
  );
  expect(logLines.filter(({ status }) => status === 400)).toHaveLength(usual === 400 ? statuses.length : 1);
  await app.close();
});

it("a pipelined request for a stream waits for the response before it", async () => {
  const { app } = await listenForRawRequests();
  const first = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
  const upgrade = "GET /v1/stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  const received = await converse(app, (socket) => socket.write(first + upgrade));
  expect(readAnswers(received).map(({ status }) => status)).toEqual([200, 404]);
  await app.close();
});

it("metrics have a port of their own if one is set, with the token if there is one", async () => {
  const [open, guarded] = [await freePort(), await freePort()];
  const publicUrl = { BURSAR_PUBLIC_URL: "https://pay.example" };
  const first = await startTestService({ ...publicUrl, BURSAR_METRICS_PORT: String(open) });
  const second = await startTestService({
    ...publicUrl,
    BURSAR_METRICS_PORT: String(guarded),
    BURSAR_METRICS_TOKEN: "t0ken",
  });
  const ask = async (url: string, authorization?: string) =>
    (await fetch(url, authorization === undefined ? {} : { headers: { authorization } })).status;
  expect(await ask(`http://127.0.0.1:${open}/metrics`)).toBe(200);
  expect(await ask(`http://127.0.0.1:${open}/v1/wallets`)).toBe(404);
  expect(await ask(`${first.url}/metrics`)).toBe(404);
  expect(await ask(`http://127.0.0.1:${guarded}/metrics`)).toBe(404);
  expect(await ask(`http://127.0.0.1:${guarded}/metrics`, "Bearer t0ken")).toBe(200);
  expect(await ask(`${second.url}/metrics`, "Bearer t0ken")).toBe(200);
  const warned = first.logLines.some((line) => line.includes("trusted_proxies is not"));
  expect(warned).toBe(true);
  await Promise.all([first.stop(), second.stop()]);
});

it("security.txt names a contact and an expiry, from the settings or by default", async () => {
  const now = () => Date.parse("2026-03-01T12:00:00Z");
  const plain = await createTestEdge([], { now });
  const answer = await plain.app.inject("/.well-known/security.txt");
  expect(answer.headers["content-type"]).toBe("text/plain; charset=utf-8");
  expect(answer.body.split("\n")).toEqual([
    "Contact: mailto:security@bursar.example",
    "Expires: 2026-08-30T00:00:00.000Z",
    "Preferred-Languages: en",
    "Canonical: http://bursar.example/.well-known/security.txt",
    "",
  ]);
  await plain.app.close();
  const securityTxt = { contact: "https://pay.example/report", expires: "2027-01-31T00:00:00Z" };
  const set = await createTestEdge([], { securityTxt });
  const { body } = await set.app.inject("/.well-known/security.txt");
  expect(body).toContain("Contact: https://pay.example/report\nExpires: 2027-01-31T00:00:00Z\n");
  await set.app.close();
});
