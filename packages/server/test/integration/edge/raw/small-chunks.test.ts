import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  connectTo,
  converse,
  listenForRawRequests,
  readAnswers,
} from "../../../harness/http/raw-exchange.js";
import { closedGuard, type TestEdge } from "../../../harness/http/test-edge.js";

const headOf = (method: string, path: string, type = "application/json") =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`;
const inChunks = (body: string, size: number) =>
  `${(body.match(new RegExp(`.{1,${size}}`, "g")) ?? []).map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("")}0\r\n\r\n`;
const nameOf = (length: number) => `{"name":"${"a".repeat(length)}"}`;

describe("a body in chunks of one byte", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await listenForRawRequests();
  });
  afterAll(() => edge.app.close());

  it("is refused and not read to its end", async () => {
    const received = await converse(edge.app, (socket) =>
      socket.write(`${headOf("POST", "/v1/probes")}${inChunks(nameOf(50_000), 1)}`),
    );
    expect(readAnswers(received)).toMatchObject([{ status: 400 }]);
    expect(edge.logLines).toContainEqual(expect.objectContaining({ error_code: "SMALL_CHUNKS" }));
  });

  it("is accepted if it is short, and so is a long one in chunks of a usual size", async () => {
    for (const body of [inChunks(nameOf(100), 1), inChunks(nameOf(60_000), 512)]) {
      const received = await converse(edge.app, (socket) =>
        socket.write(`${headOf("POST", "/v1/probes").replace("Host", "Connection: close\r\nHost")}${body}`),
      );
      expect(readAnswers(received)).toMatchObject([{ status: 200 }]);
    }
  });

  it.each([
    ["GET", "/healthz", 200],
    ["POST", "/v1/probes", 415],
  ])(
    "is left unread if %s %s is answered before, and the connection is closed",
    async (method, path, status) => {
      const accepted = new Promise<Socket>((resolve) => edge.app.server.once("connection", resolve));
      const socket = connectTo(edge.app);
      const closed = new Promise((resolve) => socket.once("close", resolve));
      const received: string[] = [];
      socket.setEncoding("latin1").on("data", (part: string) => received.push(part));
      socket.write(headOf(method, path, "text/plain"));
      await expect.poll(() => received.join("")).toContain("\r\n\r\n");
      const block = "1\r\n \r\n".repeat(10_000);
      const timer = setInterval(() => {
        if (socket.writableLength === 0) socket.write(block);
      }, 1);
      await closed;
      clearInterval(timer);
      expect(readAnswers(received.join(""))).toMatchObject([{ status }]);
      // What one read of the socket can bring.
      expect((await accepted).bytesRead).toBeLessThan(3 * 65_536);
    },
  );
});

describe("many bodies in chunks of one byte", () => {
  let edge: TestEdge;
  let parsed = 0;
  const charged: string[] = [];
  const hostile = `${headOf("POST", "/v1/probes")}${inChunks(nameOf(50_000), 1)}`;
  const attack = () => converse(edge.app, (socket) => socket.write(hostile));
  beforeAll(async () => {
    const addresses = { ...closedGuard.addresses, take: (address: string) => charged.push(address) && 0 };
    const times = { headersTimeoutMs: 60_000, requestTimeoutMs: 60_000, idleTimeoutMs: 60_000 };
    edge = await listenForRawRequests({ guard: { ...closedGuard, addresses } }, times);
    // What the parser has called back with, also after the request was refused.
    edge.app.server.on("request", (request: IncomingMessage) => {
      const push = request.push.bind(request);
      request.push = (...given) => {
        parsed += 1;
        return push(...given);
      };
    });
  });
  afterAll(() => edge.app.close());

  it("are charged to their address, and cost little after the first ones, on open connections too", async () => {
    const before = connectTo(edge.app);
    const closed = new Promise((resolve) => before.once("close", resolve));
    before.resume();
    for (let count = 0; count < 3; count += 1) await attack();
    expect(charged).toEqual(["127.0.0.1", "127.0.0.1", "127.0.0.1"]);
    parsed = 0;
    for (let count = 0; count < 3; count += 1) expect(readAnswers(await attack())[0]?.status).toBe(400);
    before.write(hostile);
    await closed;
    expect(charged.length).toBe(7);
    expect(parsed).toBeLessThan(4 * 600);
  });

  it("do not change what others are answered, with long bodies, several at once, or an upgrade", async () => {
    const body = nameOf(60_000);
    const post = `POST /v1/probes HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const last = "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    const received = await converse(edge.app, (socket) => socket.write(`${post}${post}${last}`));
    expect(readAnswers(received).map(({ status }) => status)).toEqual([200, 200, 200]);
    const upgrade =
      "GET /v1/stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    const refused = await converse(edge.app, (socket) => socket.write(upgrade));
    expect(readAnswers(refused)[0]?.status).toBeGreaterThanOrEqual(400);
  });
});
