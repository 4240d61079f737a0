import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import {
  connectTo,
  exchange,
  listenForRawRequests,
  readAnswers,
} from "../../../harness/http/raw-exchange.js";
import { createTestEdge, type TestEdge } from "../../../harness/http/test-edge.js";

const unusual: [what: string, bytes: string][] = [
  ["CONNECT", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"],
  ["garbage", "\x16\x03\x01\r\n\r\n"],
];

describe("connections that misbehave", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await listenForRawRequests();
  });
  afterAll(() => edge.app.close());

  it.each(unusual)("survives a client that sends %s and resets the connection", async (_what, bytes) => {
    for (let count = 0; count < 20; count++) {
      const socket = connectTo(edge.app);
      await new Promise((resolve) => socket.write(bytes, resolve));
      socket.resetAndDestroy();
    }
    await sleep(200);
    expect((await edge.app.inject("/healthz")).statusCode).toBe(200);
  });

  it.each(unusual)("disconnects a client that sends %s and never closes", async (_what, bytes) => {
    const socket = connectTo(edge.app, { allowHalfOpen: true });
    socket.resume();
    socket.write(bytes);
    await new Promise((resolve) => socket.once("end", resolve));
    const open = () =>
      new Promise<number>((resolve) => edge.app.server.getConnections((_error, count) => resolve(count)));
    await eventually(open, (count) => count === 0);
    socket.destroy();
  });

  it("serves a request with an unknown Expect header", async () => {
    const bytes = "GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n";
    expect(readAnswers(await exchange(edge.app, bytes))).toMatchObject([{ status: 200 }]);
  });
});

describe("many requests in one packet", () => {
  it("are answered up to a maximum number", async () => {
    const { app } = await listenForRawRequests();
    const received = await exchange(app, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n".repeat(500));
    const statuses = readAnswers(received).map(({ status }) => status);
    expect(statuses).toEqual([...Array.from({ length: 32 }, () => 200), 400]);
    await app.close();
  });
});

describe("garbage behind a request that is still being served", () => {
  it.each([
    ["garbage", "\x00\r\n\r\n"],
    [
      "a truncated body",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
    ],
  ])("is answered after it: %s", async (_what, bytes) => {
    const { app } = await createTestEdge();
    app.get("/slow", async () => {
      await sleep(200);
      return { done: true };
    });
    app.post("/echo", (request) => request.body);
    await app.listen({ host: "127.0.0.1", port: 0 });
    const received = await exchange(app, `GET /slow HTTP/1.1\r\nHost: a\r\n\r\n${bytes}`);
    const answers = readAnswers(received);
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(answers[0]?.body).toBe('{"done":true}');
    await app.close();
  });
});

describe("stopping", () => {
  it("finishes a request in flight and accepts no new one", async () => {
    let started = () => {};
    const inHandler = new Promise<void>((resolve) => {
      started = resolve;
    });
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { app } = await createTestEdge();
    app.get("/slow", async () => {
      started();
      await finished;
      return { done: true };
    });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    const pending = fetch(`${url}/slow`);
    await inHandler;
    const closed = app.close();
    const isRefused = () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      );
    await eventually(isRefused, Boolean);
    finish();
    expect(await (await pending).json()).toEqual({ done: true });
    await closed;
  });
});
