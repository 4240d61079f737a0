import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { openStream, refusedStream, type StreamClient } from "../../harness/stream/stream-client.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

describe("the messages of a stream", () => {
  const folder = createTemporaryFolder("stream");
  let service: TestService;
  let token: string;
  beforeAll(async () => {
    const config = join(folder, "bursar.yaml");
    writeFileSync(config, "stream:\n  sockets: 12\n  sockets_per_client: 3\n  messages_per_second: 50\n");
    service = await startTestService({ BURSAR_CONFIG: config });
    token = await service.token(await service.createTenant());
  });
  afterAll(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  const withStream = async (work: (stream: StreamClient) => Promise<void>) => {
    const stream = await openStream(service.url, {
      token: await service.token(await service.createTenant()),
    });
    await work(stream);
    stream.ws.terminate();
    await stream.closed;
  };

  it("are answered with the id that the client chose", () =>
    withStream(async (stream) => {
      stream.send({ type: "subscribe", id: "a", channel: "events" });
      expect(await stream.next("subscribed")).toEqual({
        type: "subscribed",
        id: "a",
        channel: "events",
        recovered: true,
        sequence: expect.any(Number),
      });
      stream.send({ type: "unsubscribe", id: "b", channel: "events" });
      expect(await stream.next("unsubscribed")).toEqual({ type: "unsubscribed", id: "b", channel: "events" });
      stream.send({ type: "subscribe", channel: "events" });
      expect(await stream.next("subscribed")).not.toHaveProperty("id");
    }));

  it.each([
    ["not JSON", "{", "MALFORMED_JSON", undefined],
    ["a key twice", '{"type":"subscribe","type":"unsubscribe"}', "MALFORMED_JSON", undefined],
    ["no object", "[]", "INVALID_REQUEST", "message"],
    ["no type", '{"id":"x"}', "INVALID_REQUEST", "message.type"],
    ["an unknown type", '{"id":"x","type":"dance"}', "INVALID_REQUEST", "message.type"],
    [
      "an unknown field",
      '{"id":"x","type":"unsubscribe","channel":"events","a":1}',
      "INVALID_REQUEST",
      "message.a",
    ],
    ["no channel", '{"id":"x","type":"subscribe"}', "INVALID_REQUEST", "message.channel"],
    ["an unknown channel", '{"id":"x","type":"subscribe","channel":"weather"}', "CHANNEL_UNKNOWN", undefined],
    [
      "a negative since",
      '{"id":"x","type":"subscribe","channel":"events","since":-1}',
      "INVALID_REQUEST",
      "message.since",
    ],
    [
      "a string as since",
      '{"id":"x","type":"subscribe","channel":"events","since":"1"}',
      "INVALID_REQUEST",
      "message.since",
    ],
    [
      "another kind of id",
      '{"id":"x","type":"subscribe","channel":"events","transaction_ids":["wlt_1"]}',
      "INVALID_REQUEST",
      "message.transaction_ids.0",
    ],
    [
      "a channel name with a suffix",
      '{"id":"x","type":"subscribe","channel":"events:all"}',
      "INVALID_REQUEST",
      "message.channel",
    ],
    [
      "unsubscribing without a subscription",
      '{"id":"x","type":"unsubscribe","channel":"events"}',
      "NOT_SUBSCRIBED",
      undefined,
    ],
    [
      "a sequence ahead of the log",
      '{"id":"x","type":"subscribe","channel":"events","since":99}',
      "SEQUENCE_AHEAD",
      undefined,
    ],
  ])("%s is refused in the contract's form, and the stream goes on", (_name, text, code, path) =>
    withStream(async (stream) => {
      stream.send(text);
      const { error, id } = await stream.next("error");
      expect(error).toMatchObject({
        code,
        message: expect.any(String),
        request_id: expect.stringMatching(/^req_/),
      });
      expect(error.details?.[0]?.path).toBe(path);
      expect(id).toBe(text.includes('"id"') ? "x" : undefined);
      stream.send({ type: "subscribe", id: "after", channel: "events" });
      expect(await stream.next("subscribed")).toMatchObject({ id: "after" });
      stream.send({ type: "subscribe", id: "again", channel: "events" });
      expect((await stream.next("error")).error.code).toBe("ALREADY_SUBSCRIBED");
    }),
  );

  it("end the stream with 1008 if too many are invalid", () =>
    withStream(async (stream) => {
      for (let index = 0; index < 20; index++) stream.send("{");
      expect(await stream.closed).toMatchObject({ code: 1008 });
      expect(stream.messages.filter(({ type }) => type === "error")).toHaveLength(11);
    }));

  it("end the stream with 4429 if there are too many, including pings", async () => {
    await withStream(async (stream) => {
      for (let index = 0; index < 200; index++) stream.send({ type: "unsubscribe", channel: "events" });
      expect([1008, 4429]).toContain((await stream.closed).code);
    });
    await withStream(async (stream) => {
      for (let index = 0; index < 500; index++) stream.ws.ping();
      expect(await stream.closed).toMatchObject({ code: 4429 });
    });
  });

  it("end the stream with 1009 if one is too large, 1003 if binary, 1007 if not UTF-8", async () => {
    await withStream(async (stream) => {
      stream.send(JSON.stringify({ type: "subscribe", channel: "x".repeat(65_536) }));
      expect(await stream.closed).toMatchObject({ code: 1009 });
    });
    await withStream(async (stream) => {
      stream.ws.send(Buffer.from("{}"), { binary: true });
      expect(await stream.closed).toMatchObject({ code: 1003 });
    });
    await withStream(async (stream) => {
      stream.ws.send(Buffer.from([0xff, 0xfe]), { binary: false });
      expect(await stream.closed).toMatchObject({ code: 1007 });
    });
  });

  it("are not compressed, even if the client offers it", async () => {
    const ws = new WebSocket(`${service.url.replace("http", "ws")}/v1/stream`, {
      headers: { authorization: `Bearer ${token}` },
      perMessageDeflate: true,
    });
    await once(ws, "open");
    expect(ws.extensions).toBe("");
    ws.terminate();
  });

  it("are accepted on the maximum number of streams of a client, and on a new stream after one has closed", async () => {
    const own = await service.token(await service.createTenant());
    const open = () => openStream(service.url, { token: own });
    const streams = [await open(), await open(), await open()];
    const { status, headers, error } = await refusedStream(service.url, { token: own });
    expect([status, error.code, headers["retry-after"]]).toEqual([429, "TOO_MANY_STREAMS", "5"]);
    streams[0]?.ws.close();
    await streams[0]?.closed;
    streams.push(await open());
    for (const { ws } of streams) ws.terminate();
  });

  it("are accepted on half of all streams for the clients of one tenant, which leaves room for the others", async () => {
    const owner = await service.createTenant();
    const admin = await service.token(owner);
    const tokens = [admin];
    for (const name of ["second", "third"]) {
      const made = await service.call("POST", "/v1/clients", admin, { name, scopes: ["events:read"] });
      const { id: clientId, secret } = (await made.json()) as { id: string; secret: string };
      tokens.push(await service.token({ clientId, secret }));
    }
    const streams: StreamClient[] = [];
    for (const own of tokens.slice(0, 2))
      for (let count = 0; count < 3; count++) streams.push(await openStream(service.url, { token: own }));
    const { status, error } = await refusedStream(service.url, { token: tokens[2] ?? "" });
    expect([status, error.code]).toEqual([429, "TOO_MANY_STREAMS"]);
    await withStream(async () => undefined);
    streams[0]?.ws.terminate();
    await streams[0]?.closed;
    streams.push(await openStream(service.url, { token: tokens[2] ?? "" }));
    for (const { ws } of streams) ws.terminate();
  });

  it("can replace the token by a new one of the same client only", () =>
    withStream(async (stream) => {
      const stranger = await service.token(await service.createTenant());
      stream.send({ type: "authenticate", id: "1", token: stranger });
      expect(await stream.next("error")).toMatchObject({ id: "1", error: { code: "TOKEN_INVALID" } });
      stream.send({ type: "authenticate", id: "2", token: "nonsense" });
      expect(await stream.next("error")).toMatchObject({ id: "2", error: { code: "TOKEN_INVALID" } });
    }));
});
