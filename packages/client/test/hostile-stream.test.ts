import { createBursar } from "@bursar/client";
import { expect, it } from "vitest";

/** A stream whose service says hello, and then something else. */
const socketThatSends = (data: string) =>
  class {
    onopen: unknown;
    onmessage: unknown;
    onclose: unknown;
    onerror: unknown;
    constructor() {
      const send = (text: string) => (this.onmessage as (event: { data: string }) => void)({ data: text });
      setImmediate(() => send(JSON.stringify({ type: "hello", epoch: "epo_1" })));
      setTimeout(() => send(data), 20);
    }
    send() {}
    close() {}
  };

const gap = '{"type":"subscribed","channel":"events","recovered":false,"oldest_sequence":"x"}';

it.each(["\u001b]0;owned\u0007", "null", "[1]", '{"type":1}', gap])(
  "a message that is none ends the stream with an error of the client: %j",
  async (data) => {
    const bursar = createBursar({
      baseUrl: "http://127.0.0.1:1",
      credentials: () => ({ token: "token", expiresInSeconds: 900 }),
      WebSocket: socketThatSends(data) as never,
      fetch: async () => Response.json({ ticket: "t" }, { status: 201 }),
    });
    await expect(bursar.events.follow({ since: 0 }).next()).rejects.toMatchObject({ code: "STREAM_REFUSED" });
  },
);
