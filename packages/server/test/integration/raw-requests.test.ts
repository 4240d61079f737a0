import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../harness/eventually.js";
import { createTestEdge, type TestEdge } from "../harness/test-edge.js";

function connectTo(app: FastifyInstance, options: { allowHalfOpen?: boolean } = {}): Socket {
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  const socket = connect({ port: address.port, host: "127.0.0.1", ...options });
  socket.on("error", () => undefined);
  socket.on("data", () => undefined);
  return socket;
}

/** Writes bytes to a socket and gives back everything until the server closes it. */
async function exchange(app: FastifyInstance, bytes: string): Promise<string> {
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("not listening");
  const socket = connect(address.port, "127.0.0.1");
  socket.setEncoding("utf8");
  socket.on("error", () => undefined);
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  socket.write(bytes);
  await new Promise((resolve) => socket.once("close", resolve));
  return received;
}

function parseAnswer(answer: string) {
  const [head = "", body = ""] = answer.split("\r\n\r\n");
  return {
    status: Number(head.split(" ")[1]),
    requestId: /^x-request-id: (.*)$/im.exec(head)?.[1],
    closes: /^connection: close$/im.test(head),
    error: JSON.parse(body).error as { code: string; request_id: string },
  };
}

describe("requests that are not HTTP, or never end", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await createTestEdge([], {
      limits: {
        bodyBytes: 65_536,
        headerBytes: 8192,
        jsonDepth: 16,
        headersTimeoutMs: 300,
        requestTimeoutMs: 600,
        requestsPerClient: 500,
        connectionsPerClient: 1000,
      },
    });
    await edge.app.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(() => edge.app.close());

  it.each([
    ["garbage", "\x16\x03\x01\x02\x00\r\n\r\n", 400, "MALFORMED_REQUEST"],
    ["no version", "GET /healthz\r\n\r\n", 400, "MALFORMED_REQUEST"],
    [
      "two lengths",
      "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      400,
      "MALFORMED_REQUEST",
    ],
    [
      "a length and chunks",
      "POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      400,
      "MALFORMED_REQUEST",
    ],
    ["a space in a header name", "GET /healthz HTTP/1.1\r\nHost : a\r\n\r\n", 400, "MALFORMED_REQUEST"],
    ["CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n", 400, "MALFORMED_REQUEST"],
    [
      "headers over the limit",
      `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(9000)}\r\n\r\n`,
      431,
      "HEADERS_TOO_LARGE",
    ],
    ["headers that stop half-way", "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ", 408, "REQUEST_TIMEOUT"],
    ["no Host", "GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n", 400, "MALFORMED_REQUEST"],
  ])("%s", async (_what, bytes, status, code) => {
    const answer = parseAnswer(await exchange(edge.app, bytes));
    expect(answer).toMatchObject({ status, closes: true, error: { code } });
    expect(answer.error.request_id).toBe(answer.requestId);
    expect(edge.logLines.some((line) => line["request_id"] === answer.requestId)).toBe(true);
  });

  it.each([
    ["CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"],
    ["garbage", "\x16\x03\x01\r\n\r\n"],
  ])("survives a client that sends %s and resets the connection", async (_what, bytes) => {
    for (let count = 0; count < 20; count++) {
      const socket = connectTo(edge.app);
      await new Promise((resolve) => socket.write(bytes, resolve));
      socket.resetAndDestroy();
    }
    await sleep(200);
    expect((await edge.app.inject("/healthz")).statusCode).toBe(200);
  });

  it.each([
    ["CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"],
    ["garbage", "\x16\x03\x01\r\n\r\n"],
  ])("lets go of a client that sends %s and never closes", async (_what, bytes) => {
    const socket = connectTo(edge.app, { allowHalfOpen: true });
    socket.write(bytes);
    await new Promise((resolve) => socket.once("end", resolve));
    const open = () =>
      new Promise<number>((resolve) => edge.app.server.getConnections((_error, count) => resolve(count)));
    await eventually(open, (count) => count === 0);
    socket.destroy();
  });

  it("serves a request whose Expect it does not know", async () => {
    const answer = await exchange(
      edge.app,
      "GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n",
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
  });
});

describe("stopping", () => {
  it("finishes a request in flight and takes no new one", async () => {
    let started = () => {};
    const inHandler = new Promise<void>((resolve) => {
      started = resolve;
    });
    const { app } = await createTestEdge();
    app.get("/slow", async () => {
      started();
      await sleep(300);
      return { done: true };
    });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    const pending = fetch(`${url}/slow`);
    await inHandler;
    const closed = app.close();
    await sleep(100);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    expect(await (await pending).json()).toEqual({ done: true });
    await closed;
  });
});
