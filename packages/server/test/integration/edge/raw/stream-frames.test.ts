import diagnostics from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../../harness/eventually.js";
import { startTestService, type TestService } from "../../../harness/service/test-service.js";
import { frame, opcodes, openRawStream, type RawStream, text } from "../../../harness/stream/raw-stream.js";

const { continuation, binary, close, ping, pong } = opcodes;
const part = (opcode: number, payload: Buffer | string) => frame({ opcode, payload, isFinal: false });
const subscribe = '{"type":"subscribe","channel":"events"}';
const unsubscribe = '{"type":"unsubscribe","channel":"events"}';
const closeWith = (code: number, reason: Buffer | string = "") => {
  const head = Buffer.alloc(2);
  head.writeUInt16BE(code);
  return frame({ opcode: close, payload: Buffer.concat([head, Buffer.from(reason)]) });
};
const repeated = (count: number, make: (index: number) => Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(index)));

describe("a client that sends raw WebSocket frames", () => {
  // Its own service, because the test reads the whole log.
  let service: TestService;
  let token: string;
  let stream: RawStream;
  beforeAll(async () => {
    service = await startTestService();
    token = await service.token(await service.createTenant());
  });
  afterAll(() => service.stop());
  /** Other clients are not affected. */
  afterEach(async () => {
    stream.socket.destroy();
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    const other = await openRawStream(service.url, token, text(subscribe));
    await eventually(other.messages, (messages) => messages.some((one) => one.includes('"subscribed"')));
    other.socket.destroy();
    expect(service.logLines.filter((line) => line.includes('"level":50'))).toEqual([]);
  });

  it.each<[what: string, bytes: Buffer, code: number]>([
    ["a frame that is not masked", frame({ opcode: 1, payload: subscribe, isMasked: false }), 1002],
    [
      "a compressed frame without negotiated compression",
      frame({ opcode: 1, payload: "x", reserved: 0x40 }),
      1002,
    ],
    ["the second reserved bit", frame({ opcode: 1, payload: "x", reserved: 0x20 }), 1002],
    ["the third reserved bit", frame({ opcode: 1, payload: "x", reserved: 0x10 }), 1002],
    ["an unknown data opcode", frame({ opcode: 3 }), 1002],
    ["an unknown control opcode", frame({ opcode: 11 }), 1002],
    ["a continuation without a message", frame({ opcode: continuation, payload: "x" }), 1002],
    ["a message within a message", Buffer.concat([part(1, "{"), text("{}")]), 1002],
    ["a fragmented ping", part(ping, "x"), 1002],
    ["a ping of 126 bytes", frame({ opcode: ping, payload: "x".repeat(126) }), 1002],
    ["a pong of 126 bytes", frame({ opcode: pong, payload: "x".repeat(126) }), 1002],
    ["a close frame of 126 bytes", closeWith(1000, "x".repeat(124)), 1002],
    ["a close frame of one byte", frame({ opcode: close, payload: "x" }), 1002],
    ["a close frame with a reserved code", closeWith(1006), 1002],
    ["a close frame with an invalid code", closeWith(999), 1002],
    ["a close frame that is not UTF-8", closeWith(1000, Buffer.from([0xff])), 1007],
    ["a binary message", frame({ opcode: binary, payload: subscribe }), 1003],
    ["text that is not UTF-8", text(Buffer.from([0x7b, 0xff, 0x7d])), 1007],
    ["text that ends within a character", text(Buffer.from([0x22, 0xe2, 0x82])), 1007],
    ["text with half of a surrogate pair", text(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), 1007],
    [
      "fragmented text that is not UTF-8",
      Buffer.concat([part(1, Buffer.from([0xe2, 0x82])), frame({ opcode: 0, payload: "x" })]),
      1007,
    ],
    ["a message of one byte too many", text(" ".repeat(65_537)), 1009],
    ["a message that claims four gigabytes", frame({ opcode: 1, claimedLength: 2n ** 32n }), 1009],
    ["a message that claims 2^63 - 1 bytes", frame({ opcode: 1, claimedLength: 2n ** 63n - 1n }), 1009],
    ["a message that claims a negative length", frame({ opcode: 1, claimedLength: 2n ** 64n - 1n }), 1009],
    [
      "fragments that are too large together",
      Buffer.concat([part(1, " ".repeat(40_000)), part(0, " ".repeat(40_000))]),
      1009,
    ],
    [
      "sixty thousand fragments of one byte",
      Buffer.concat([part(1, ""), repeated(60_000, () => part(0, "[")), frame({ opcode: 0 })]),
      1008,
    ],
    [
      "a hundred thousand empty fragments",
      Buffer.concat([part(1, ""), repeated(100_000, () => part(0, "")), frame({ opcode: 0 })]),
      1008,
    ],
    ["eleven messages of garbage", repeated(11, () => text("garbage")), 1008],
    [
      "fifty subscriptions to unknown channels",
      repeated(50, (n) => text(`{"type":"subscribe","channel":"x${n}"}`)),
      1008,
    ],
    [
      "five hundred subscriptions and unsubscriptions",
      repeated(500, (n) => text(n % 2 === 0 ? subscribe : unsubscribe)),
      4429,
    ],
    ["a thousand pings", repeated(1000, () => frame({ opcode: ping })), 4429],
    ["a thousand answers to pings that nobody sent", repeated(1000, () => frame({ opcode: pong })), 4429],
    [
      "a message in twenty fragments that does not end",
      repeated(20, (n) => part(n === 0 ? 1 : 0, "[")),
      1008,
    ],
    ["a farewell", closeWith(1000, "goodbye"), 1000],
  ])("is disconnected for %s", async (_what, bytes, code) => {
    stream = await openRawStream(service.url, token, bytes);
    expect(await stream.closed).toBe(code);
  });

  it.each<[what: string, bytes: Buffer]>([
    [
      "a character in two fragments",
      Buffer.concat([
        part(1, Buffer.from('{"type":"subscribe","channel":"€'.slice(0, -1))),
        part(0, Buffer.from([0xe2])),
        frame({ opcode: 0, payload: Buffer.from([0x82, 0xac, 0x22, 0x7d]) }),
      ]),
    ],
    [
      "a ping between the fragments of a message",
      Buffer.concat([part(1, "{"), frame({ opcode: ping }), frame({ opcode: 0, payload: "" })]),
    ],
    ["deeply nested arrays", text("[".repeat(60_000))],
    ["deeply nested objects", text('{"a":'.repeat(10_000))],
    ["a very long number", text(`{"type":"subscribe","channel":"events","since":${"9".repeat(60_000)}}`)],
    ["a number that is not finite", text('{"type":"subscribe","channel":"events","since":1e999}')],
    ["the key __proto__", text('{"__proto__":{"type":"subscribe"},"channel":"events"}')],
    ["the name of a method as a type", text('{"type":"constructor","channel":"events"}')],
    ["the name of a method as a channel", text('{"type":"subscribe","channel":"__proto__"}')],
    ["a NUL", text('{"type":"subscribe","channel":"\\u0000"}')],
    ["nothing", text("")],
    ["a byte order mark", text(`\ufeff${subscribe}`)],
  ])("gets an error and can continue after %s", async (_what, bytes) => {
    stream = await openRawStream(service.url, token, bytes);
    await eventually(stream.messages, (messages) =>
      messages.some((one) => one.startsWith('{"type":"error"')),
    );
    stream.socket.write(text(subscribe));
    await eventually(stream.messages, (messages) => messages.some((one) => one.includes('"subscribed"')));
  });

  it.each<[what: string, bytes: Buffer]>([
    ["half of a header", Buffer.from([0x81])],
    ["half of a message", frame({ opcode: 1, payload: "{", claimedLength: 100n })],
    ["an unfinished message", part(1, "{")],
  ])("is removed when it disconnects in the middle of %s", async (_what, bytes) => {
    const open = () => service.logLines.filter((line) => line.includes('"stream opened"')).length;
    const ended = () => service.logLines.filter((line) => line.includes('"stream closed"')).length;
    const before = open();
    stream = await openRawStream(service.url, token, bytes);
    await eventually(open, (count) => count > before);
    stream.socket.resetAndDestroy();
    await eventually(
      () => open() - ended(),
      (count) => count === 0,
    );
  });

  it("is not read any more when it goes on after it was disconnected", async () => {
    const accepted: Socket[] = [];
    const onAccepted = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
    diagnostics.subscribe("net.server.socket", onAccepted);
    stream = await openRawStream(service.url, token, text(subscribe), { answersClose: false });
    await eventually(stream.messages, (messages) => messages.some((one) => one.includes('"subscribed"')));
    diagnostics.unsubscribe("net.server.socket", onAccepted);
    const { localPort } = stream.socket;
    const own = accepted.find(({ remotePort }) => remotePort === localPort);
    const pings = repeated(8000, () => frame({ opcode: ping, payload: "x".repeat(125) }));
    for (let count = 0; count < 8; count++) stream.socket.write(pings);
    expect(await stream.closed).toBe(4429);
    expect(own?.bytesRead).toBeLessThan(pings.length);
  });

  it("is answered when it sends the first message with the handshake", async () => {
    stream = await openRawStream(service.url, token, text(subscribe));
    await eventually(stream.messages, (messages) => messages.some((one) => one.includes('"subscribed"')));
  });
});
