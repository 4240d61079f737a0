import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { createKit } from "../src/engine/kit.js";
import { createSession } from "../src/engine/session.js";
import { openStream } from "../src/stream/open-stream.js";
import { readTarget } from "../src/target/read-target.js";

/** Streams that want to exhaust the kit. Each ends within the bounds, with a transcript that is bounded too. */
async function openAgainst(act: (socket: WebSocket) => void) {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket) => {
    socket.on("error", () => undefined);
    act(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = readTarget("stream: {}\n", { baseUrl, token: "hostile-token" }, {});
  const session = createSession({ target, token: "hostile-token" });
  const kit = createKit(session);
  if (target.stream === undefined) throw new Error("the target has a stream");
  const opened = await openStream(kit, target.stream);
  if ("refused" in opened) throw new Error(opened.refused);
  const ended = await kit.poll(10_000, async () => (opened.stream.isClosed() ? true : undefined));
  for (const socket of sockets.clients) socket.terminate();
  server.close();
  return { ended, messages: opened.stream.messages.length, exchange: session.exchanges[0] };
}

it("a stream that floods is closed after some thousand messages", async () => {
  const { ended, messages, exchange } = await openAgainst((socket) => {
    const flood = () => {
      for (let count = 0; count < 500; count += 1) socket.send("[1]");
      if (socket.readyState === socket.OPEN) setImmediate(flood);
    };
    flood();
  });
  expect({ ended, messages }).toEqual({ ended: true, messages: 5000 });
  expect(exchange?.response?.body.length).toBeLessThan(300_000);
});

it("a message of 100 MB is not read to its end", async () => {
  const { ended, messages } = await openAgainst((socket) => socket.send(Buffer.alloc(100_000_000, 32)));
  expect({ ended, messages }).toEqual({ ended: true, messages: 0 });
});
