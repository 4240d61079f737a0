import { describe, expect, it } from "vitest";
import { createAllowance, createMessageHandler, type MessageHandlerOptions } from "./message-handler.js";
import { createMessageRoom, messageOverhead } from "./message-room.js";
import type { StreamDeps } from "./stream-deps.js";

it("an allowance gives a burst at once, and then what time brings, but never more than the burst", () => {
  let now = 0;
  const { take } = createAllowance({ burst: 3, perSecond: 2 }, () => now);
  const takeAll = () => Array.from({ length: 6 }, take).filter(Boolean).length;
  expect(takeAll()).toBe(3);
  now += 1000;
  expect(takeAll()).toBe(2);
  now += 400;
  expect(takeAll()).toBe(0);
  now += 100;
  expect(takeAll()).toBe(1);
  now += 60_000;
  expect(takeAll()).toBe(3);
});

describe("a client that sends faster than it is answered", () => {
  const text = JSON.stringify({ type: "unsubscribe", channel: "events" });
  const size = text.length + messageOverhead;

  /** Streams of one tenant, whose quota lets nothing through until it is asked to. */
  function openStreams(roomBytes: number) {
    const room = createMessageRoom(roomBytes);
    let admit: (waitSeconds: number) => void = () => undefined;
    const admitted = new Promise<number>((resolve) => {
      admit = resolve;
    });
    const deps = {
      room,
      takeQuota: () => admitted,
      limits: { subscriptions: 3, messagesPerSecond: 2 },
      // Sent slowly enough for the rate.
      monotonicMs: createClock(),
      readMessage: () => ({ type: "unsubscribe", channel: "events" }),
      publicUrl: "https://bursar.example",
      isUnavailable: () => false,
    } as unknown as StreamDeps;
    const open = (clientId = "client") => {
      const [sent, closed]: [object[], string[]] = [[], []];
      const handler = createMessageHandler(
        {
          requestId: "req_1",
          session: { principal: () => ({ tenantId: "tenant", clientId }), client: () => ({}) },
          subscriptions: { unsubscribe: () => undefined },
          bytesSent: () => 0,
          send: (message: object) => void sent.push(message),
          close: (code: number, reason: string) => void closed.push(`${code} ${reason}`),
        } as unknown as MessageHandlerOptions,
        deps,
      );
      const receive = (count: number) => {
        for (let index = 0; index < count; index++) handler.receive(Buffer.from(text), false);
      };
      return { ...handler, receive, sent, closed };
    };
    return { room, admit: (waitSeconds: number) => admit(waitSeconds), open };
  }

  it("is closed when more wait than it may send at once", async () => {
    const { open } = openStreams(1_000_000);
    const stream = open();
    // One is being handled, and five wait.
    stream.receive(6);
    expect(stream.closed).toEqual([]);
    stream.receive(1);
    expect(stream.closed).toEqual(["4429 too many messages wait"]);
  });

  it("has no more room on many streams than on one, and gives it back when they end", () => {
    const { room, open } = openStreams(4 * 4 * size);
    const [first, second, ofAnother] = [open(), open(), open("other client")];
    // One of each is being handled.
    first.receive(4);
    second.receive(2);
    ofAnother.receive(3);
    expect([second.closed, ofAnother.closed]).toEqual([[], []]);
    second.receive(1);
    expect(second.closed).toEqual(["4429 too many messages wait"]);
    ofAnother.receive(1);
    expect(ofAnother.closed).toEqual([]);
    for (const stream of [first, second, ofAnother]) stream.clear();
    const clients = ["a", "b", "c", "d"].map((clientId) => ({ tenantId: "tenant", clientId }));
    expect(clients.map((owner) => room.take(owner, 4 * size))).toEqual([true, true, true, true]);
    expect(room.take({ tenantId: "tenant", clientId: "e" }, 1)).toBe(false);
    expect(room.take({ tenantId: "another", clientId: "f" }, 4 * size)).toBe(true);
  });

  it("lets everything else have its turn after each of them", async () => {
    const { admit, open } = openStreams(1_000_000);
    const stream = open();
    admit(0);
    stream.receive(5);
    const answered: number[] = [];
    for (let turn = 0; turn < 8; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      answered.push(stream.sent.length);
    }
    expect(answered.slice(0, 5).every((count, turn) => count <= turn + 2)).toBe(true);
    expect(answered.at(-1)).toBe(5);
  });

  it("is refused what its quota does not allow, in order", async () => {
    const { admit, open } = openStreams(1_000_000);
    const stream = open();
    stream.receive(2);
    admit(3);
    await expect.poll(() => stream.sent.length).toBe(2);
    expect(stream.sent).toMatchObject([
      { type: "error", error: { code: "RATE_LIMITED" } },
      { type: "error", error: { code: "RATE_LIMITED" } },
    ]);
  });
});

/** A clock that is a second later each time. */
function createClock(): () => number {
  let now = 0;
  return () => {
    now += 1000;
    return now;
  };
}
