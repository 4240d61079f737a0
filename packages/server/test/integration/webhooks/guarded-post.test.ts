import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../src/embedded/free-port.js";
import { eventually } from "../../harness/eventually.js";
import { useGuardedPoster } from "../../harness/webhooks/guarded-poster.js";
import { createTestAuthority } from "../../harness/webhooks/test-certificates.js";

const { authority, own, listening, poster } = useGuardedPoster();

/** A receiver at `https://receiver.example`. The name resolves to a public address, which is redirected to this machine. */
async function receiver(
  handle: (...args: [...Parameters<RequestListener>, reset: () => void]) => void,
  certificate = own,
) {
  const seen = { requests: 0, connections: 0 };
  const sockets = new Map<number | undefined, Socket>();
  const server = createHttpsServer(certificate, (request, response) => {
    seen.requests++;
    handle(request, response, () => sockets.get(request.socket.remotePort)?.resetAndDestroy());
  });
  // The TCP connection below TLS is reset.
  server.on("connection", (socket: Socket) => {
    seen.connections++;
    sockets.set(socket.remotePort, socket);
  });
  server.on("tlsClientError", () => undefined);
  const port = await listening(server);
  return { seen, url: `https://receiver.example:${port}/hooks?a=1` };
}

describe("posting to a receiver", () => {
  it("sends the request and returns the response", async () => {
    let got: unknown;
    const { url } = await receiver((request, response) => {
      let body = "";
      request.on("data", (chunk) => (body += chunk));
      request.on("end", () => {
        const { method, url: path, headers } = request;
        got = { method, path, body, id: headers["webhook-id"], encoding: headers["accept-encoding"] };
        response.writeHead(503, { "retry-after": "120" }).end("later, please");
      });
    });
    expect(await poster()(url)).toEqual({
      kind: "answered",
      status: 503,
      retryAfter: "120",
      excerpt: "later, please",
      latencyMs: expect.any(Number),
    });
    expect(got).toEqual({
      method: "POST",
      path: "/hooks?a=1",
      body: '{"a":1}',
      id: "dlv_1",
      encoding: "identity",
    });
  });

  it("keeps the connection for the next request", async () => {
    const { url, seen } = await receiver((_request, response) => response.end());
    const post = poster();
    for (let time = 0; time < 9; time++)
      expect(await post(url)).toMatchObject({ kind: "answered", status: 200 });
    // The first connection is not idle yet when the second request is sent without delay.
    expect(seen.connections).toBeLessThanOrEqual(2);
  });

  it("reaches a receiver on this machine without TLS in the sandbox, by address and by name", async () => {
    const server = createHttpServer((_request, response) => response.writeHead(204).end());
    const port = await listening(server);
    const post = poster({ isLoopbackAllowed: true });
    for (const host of ["127.0.0.1", "localhost"]) {
      expect(await post(`http://${host}:${port}/`)).toMatchObject({ kind: "answered", status: 204 });
    }
  });

  it("keeps the first 1 KiB of a response, without characters that the database cannot store", async () => {
    const { url } = await receiver((_request, response) => response.end(`a\u0000b${"ü".repeat(1000)}`));
    const outcome = await poster()(url);
    expect(outcome).toMatchObject({
      kind: "answered",
      excerpt: expect.stringMatching(/^a\ufffdbü{510}\ufffd$/),
    });
  });

  it.each([301, 302, 303, 307, 308])("does not follow a redirect (%i)", async (status) => {
    const inside = await receiver((_request, response) => response.end());
    const { url } = await receiver((_request, response) =>
      response.writeHead(status, { location: inside.url }).end(),
    );
    expect(await poster({ isLoopbackAllowed: true })(url)).toMatchObject({ kind: "answered", status });
    expect(inside.seen.connections).toBe(0);
  });
});

describe("a receiver that misbehaves", () => {
  it("is disconnected at the deadline when it sends its response slowly", async () => {
    let isCut = false;
    const { url } = await receiver((_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write("."), 10);
      response.on("close", () => {
        clearInterval(drip);
        isCut = true;
      });
    });
    expect(await poster()(url, 200)).toMatchObject({ kind: "failed", sent: true });
    await eventually(() => isCut, Boolean);
  });

  it("is disconnected at the deadline when it sends nothing", async () => {
    const { url } = await receiver(() => undefined);
    expect(await poster()(url, 200)).toMatchObject({
      kind: "failed",
      reason: "no whole answer within 200 ms",
      sent: true,
    });
  });

  it("is disconnected when its response is too long", async () => {
    const totalBytes = 50_000_000;
    let writtenBytes = 0;
    let isCut = false;
    const { url } = await receiver((_request, response) => {
      const chunk = Buffer.alloc(10_000, "x");
      const write = () => {
        while (writtenBytes < totalBytes && !response.destroyed) {
          writtenBytes += chunk.length;
          if (!response.write(chunk)) return response.once("drain", write);
        }
        return response.end();
      };
      response.on("close", () => {
        isCut = true;
      });
      write();
    });
    expect(await poster()(url)).toMatchObject({ kind: "answered", status: 200, excerpt: "x".repeat(1024) });
    await eventually(() => isCut, Boolean);
    expect(writtenBytes).toBeLessThan(totalBytes);
  });

  it("is disconnected when its response comes in too many pieces", async () => {
    let isCut = false;
    const { url } = await receiver((_request, response) => {
      response.writeHead(200);
      for (let count = 0; count < 60_000; count++) response.write("x");
      response.on("close", () => (isCut = true));
    });
    expect(await poster()(url)).toMatchObject({ kind: "answered", status: 200, excerpt: "x".repeat(513) });
    await eventually(() => isCut, Boolean);
  });

  it("cannot make the service decompress a response", async () => {
    const bomb = gzipSync(Buffer.alloc(20_000_000));
    expect(bomb.length).toBeLessThan(65_536);
    const { url } = await receiver((_request, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    );
    const outcome = await poster()(url);
    expect(outcome).toMatchObject({
      kind: "answered",
      status: 200,
      excerpt: expect.stringContaining("\u001f"),
    });
  });

  it.each([
    ["before its answer", undefined],
    ["in the middle of its answer", { "content-length": "100" }],
    ["in the middle of an answer of unknown length", {}],
  ])("leaves the outcome unknown when it resets the connection %s", async (_when, headers) => {
    const { url } = await receiver((_request, response, reset) => {
      if (headers === undefined) return reset();
      response.writeHead(200, headers);
      return response.write("half", reset);
    });
    expect(await poster()(url)).toMatchObject({ kind: "failed", sent: true });
  });

  it("leaves the outcome unknown when its headers are endless", async () => {
    const { url } = await receiver((_request, response) => {
      response.writeHead(200, { "x-long": "a".repeat(20_000) }).end();
    });
    expect(await poster()(url)).toMatchObject({
      kind: "failed",
      reason: "the headers of the answer are too long",
      sent: true,
    });
  });
});

describe("a certificate", () => {
  const stranger = createTestAuthority("Another Authority");
  const bad = [
    ["by an unknown authority", stranger.issue({ names: ["receiver.example"] })],
    ["for another name", authority.issue({ names: ["elsewhere.example"] })],
    ["that has expired", authority.issue({ names: ["receiver.example"], validMs: -1000 })],
  ] as const;

  it.each(bad)("%s is refused before anything is sent", async (_what, certificate) => {
    const { url, seen } = await receiver((_request, response) => response.end(), certificate);
    const outcome = await poster()(url);
    expect(outcome).toMatchObject({
      kind: "failed",
      sent: false,
      reason: expect.stringContaining("certificate"),
    });
    expect(seen).toEqual({ requests: 0, connections: 1 });
  });

  it("is checked even if the environment disables it", async () => {
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    onTestFinished(() => void delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]);
    const { url, seen } = await receiver((_request, response) => response.end(), bad[0][1]);
    expect(await poster()(url)).toMatchObject({ kind: "failed", sent: false });
    expect(seen.requests).toBe(0);
  });
});

describe("a request that was certainly not sent", () => {
  it("is a request to a closed port", async () => {
    const url = `https://receiver.example:${await freePort()}/`;
    expect(await poster()(url)).toMatchObject({
      kind: "failed",
      reason: "the connection was refused",
      sent: false,
    });
  });

  it("is one whose host was not resolved in time, even if it is resolved later", async () => {
    const { url, seen } = await receiver((_request, response) => response.end());
    const addresses = ["93.184.215.14"];
    let answer: (() => void) | undefined;
    const resolveHost = () =>
      answer === undefined
        ? new Promise<string[]>((resolve) => (answer = () => resolve(addresses)))
        : Promise.resolve(addresses);
    const post = poster({ resolveHost });
    expect(await post(url, 100)).toMatchObject({ kind: "failed", sent: false });
    answer?.();
    await eventually(
      () => seen.connections,
      (count) => count === 1,
    );
    expect(await post(url)).toMatchObject({ kind: "answered", status: 200 });
    expect(seen.requests).toBe(1);
  });

  it("is one that found every connection to its receiver in use until its timeout", async () => {
    let requests = 0;
    const port = await listening(createHttpServer(() => requests++));
    const post = poster({ isLoopbackAllowed: true });
    const url = `http://127.0.0.1:${port}/`;
    const hanging = Array.from({ length: 64 }, () => post(url, 3000));
    await eventually(
      () => requests,
      (count) => count === 64,
    );
    expect(await post(url, 100)).toMatchObject({ kind: "failed", sent: false });
    expect(await Promise.all(hanging)).toEqual(
      Array.from({ length: 64 }, () => expect.objectContaining({ kind: "failed", sent: true })),
    );
    expect(requests).toBe(64);
  });
});
