import { setTimeout as sleep } from "node:timers/promises";
import { Type } from "typebox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { defineRoute } from "../../../../src/http/route.js";
import { connectTo, converse, readAnswers } from "../../../harness/http/raw-exchange.js";
import { createTestEdge, type TestEdge } from "../../../harness/http/test-edge.js";

const Seen = Type.Object({ address: Type.String() });
const seen = defineRoute(
  {
    method: "GET",
    path: "/v1/seen",
    access: "open",
    operationId: "seen",
    tag: "Operations",
    summary: "The address of the caller",
    success: { status: 200, schema: Seen, description: "What was seen." },
    errors: [],
  },
  (request) => ({ address: request.ip }),
);

const get = (headers = "", connection = "close") =>
  Buffer.from(`GET /v1/seen HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n${headers}\r\n`);
const header = (rest: string) => Buffer.from(`0d0a0d0a000d0a515549540a${rest.replaceAll(" ", "")}`, "hex");
const tcp4 = header("21 11 000c c0000207 0a000001 d431 01bb");
const tcp6 = header("21 21 0024 20010db8000000000000000000000007 fd000000000000000000000000000001 d431 01bb");

async function startEdge(trustedProxies: string): Promise<TestEdge> {
  const edge = await createTestEdge([seen], { trustedProxies, proxyProtocol: true });
  await edge.app.listen({ host: "127.0.0.1", port: 0 });
  return edge;
}

describe("a connection of a trusted proxy with the PROXY protocol", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await startEdge("127.0.0.0/8");
  });
  afterAll(() => edge.app.close());
  const addressesIn = (received: string) =>
    readAnswers(received).map(({ status, body }) => [status, JSON.parse(body).address]);

  it.each([
    ["IPv4", tcp4, "192.0.2.7"],
    ["IPv6", tcp6, "2001:db8::7"],
    ["LOCAL", header("20 00 0000"), "127.0.0.1"],
  ])("has the address of the client, with %s", async (_what, bytes, address) => {
    const received = await converse(edge.app, (socket) => socket.write(Buffer.concat([bytes, get()])));
    expect(addressesIn(received)).toEqual([[200, address]]);
  });

  it("may send its header in single bytes, and several requests behind it", async () => {
    const received = await converse(edge.app, async (socket) => {
      socket.setNoDelay(true);
      for (const byte of tcp4) {
        socket.write(Uint8Array.of(byte));
        await sleep(1);
      }
      socket.write(get("", "keep-alive"));
      socket.write(get("", "keep-alive"));
      await sleep(20);
      socket.write(get());
    });
    expect(addressesIn(received)).toEqual(Array.from({ length: 3 }, () => [200, "192.0.2.7"]));
  });

  it("keeps the address of the client through a request for another protocol", async () => {
    const received = await converse(edge.app, (socket) => {
      socket.write(Buffer.concat([tcp4, get("Upgrade: h2c\r\n", "Upgrade"), get()]));
    });
    expect(addressesIn(received)).toEqual([
      [200, "192.0.2.7"],
      [200, "192.0.2.7"],
    ]);
  });

  it("does not let the client claim another address", async () => {
    const received = await converse(edge.app, (socket) =>
      socket.write(Buffer.concat([tcp4, get("X-Forwarded-For: 198.51.100.1\r\n")])),
    );
    expect(addressesIn(received)).toEqual([[200, "192.0.2.7"]]);
  });

  it.each([
    ["says LOCAL", header("20 00 0000"), "127.0.0.1"],
    ["does not say whose it is", header("21 00 0000"), "127.0.0.1"],
    ["says the address of a proxy", header("21 11 000c 7f000009 0a000001 d431 01bb"), "127.0.0.9"],
  ])("does not let the client claim another address if its header %s", async (_what, bytes, address) => {
    const forwarded = get("X-Forwarded-For: 198.51.100.1\r\n");
    const received = await converse(edge.app, (socket) => socket.write(Buffer.concat([bytes, forwarded])));
    expect(addressesIn(received)).toEqual([[200, address]]);
  });

  it.each([
    ["no header", Buffer.alloc(0)],
    ["version 1", Buffer.from("PROXY TCP4 192.0.2.7 10.0.0.1 1 2\r\n")],
    ["UDP", header("21 12 000c c0000207 0a000001 d431 01bb")],
    ["too short an address", header("21 11 0004 c0000207")],
    ["an endless header", header("21 11 ffff c0000207")],
  ])("is closed without an answer with %s", async (_what, bytes) => {
    expect(await converse(edge.app, (socket) => socket.write(Buffer.concat([bytes, get()])))).toBe("");
  });
});

describe("the PROXY protocol", () => {
  it("is not accepted from other peers, which speak plain HTTP", async () => {
    const { app } = await startEdge("10.0.0.0/8");
    const plain = await converse(app, (socket) => socket.write(get("X-Forwarded-For: 198.51.100.1\r\n")));
    expect(readAnswers(plain).map(({ body }) => JSON.parse(body).address)).toEqual(["127.0.0.1"]);
    const forged = await converse(app, (socket) => socket.write(Buffer.concat([tcp4, get()])));
    expect(readAnswers(forged).map(({ status }) => status)).toEqual([400]);
    await app.close();
  });

  it("closes a connection whose header is late", async () => {
    const { app } = await createTestEdge([seen], {
      trustedProxies: "127.0.0.1",
      proxyProtocol: true,
      limits: {
        bodyBytes: 65_536,
        headerBytes: 8192,
        jsonDepth: 16,
        headersTimeoutMs: 100,
        requestTimeoutMs: 600,
        idleTimeoutMs: 1000,
        requestsPerClient: 500,
        connectionsPerClient: 1000,
        heavyRequestsPerTenant: 2,
        databaseConnections: 10,
      },
    });
    await app.listen({ host: "127.0.0.1", port: 0 });
    const socket = connectTo(app);
    socket.resume();
    socket.write(tcp4.subarray(0, 10));
    await new Promise((resolve) => socket.once("close", resolve));
    await app.close();
  });
});

describe("X-Forwarded-For of a trusted proxy", () => {
  let edge: TestEdge;
  beforeAll(async () => {
    edge = await createTestEdge([seen], { trustedProxies: "127.0.0.1" });
  });
  afterAll(() => edge.app.close());

  const proxy = "127.0.0.1";
  it.each([
    ["an address", "203.0.113.9", "203.0.113.9"],
    ["a port", "203.0.113.9:4711", "203.0.113.9"],
    ["brackets and a port", "[2001:db8::7]:4711", "2001:db8::7"],
    ["a zone", "fe80::7%eth0", "fe80::7"],
    ["a trusted proxy with a port", "203.0.113.9, 127.0.0.1:80", "203.0.113.9"],
    ["something else before the address", "unknown, 203.0.113.9", "203.0.113.9"],
    ["something else after an address", "203.0.113.9, unknown", proxy],
    ["nothing but a word", "unknown", proxy],
    ["markup", "<script>", proxy],
    ["something long", "x".repeat(3000), proxy],
    ["only commas", ", ,", proxy],
  ])("with %s", async (_what, forwarded, address) => {
    const answer = await edge.app.inject({ url: "/v1/seen", headers: { "x-forwarded-for": forwarded } });
    expect(answer.json()).toEqual({ address });
  });

  it("still shows that a request to the metrics was forwarded if it has no address", async () => {
    const statusOf = async (headers: Record<string, string>) =>
      (await edge.app.inject({ url: "/metrics", headers })).statusCode;
    expect(await statusOf({})).toBe(200);
    expect(await statusOf({ "x-forwarded-for": "unknown" })).toBe(404);
  });
});
