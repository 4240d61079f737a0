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
  const charged: string[] = [];
  beforeAll(async () => {
    const addresses = { ...closedGuard.addresses, take: (address: string) => charged.push(address) && 0 };
    edge = await listenForRawRequests({ guard: { ...closedGuard, addresses } });
  });
  afterAll(() => edge.app.close());

  it("are charged to their address", async () => {
    const hostile = `${headOf("POST", "/v1/probes")}${inChunks(nameOf(50_000), 1)}`;
    for (let count = 0; count < 2; count += 1) {
      const received = await converse(edge.app, (socket) => socket.write(hostile));
      expect(readAnswers(received)[0]?.status).toBe(400);
    }
    expect(charged).toEqual(["127.0.0.1", "127.0.0.1"]);
  });
});
