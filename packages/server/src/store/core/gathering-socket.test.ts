import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createGatheringSocket } from "./gathering-socket.js";

let server: Server;
let received: Promise<string>;
beforeEach(async () => {
  server = createServer();
  received = once(server, "connection").then(async ([peer]) => {
    let text = "";
    for await (const chunk of peer) text += chunk;
    return text;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => server.close());

async function connect() {
  const socket = createGatheringSocket();
  socket.connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

function writeCorked(socket: Awaited<ReturnType<typeof connect>>, text: string): void {
  socket.cork();
  socket.write(text);
  socket.uncork();
}

it("sends in one piece what was written in one turn, and in its order", async () => {
  const socket = await connect();
  let pieces = 0;
  const writev = socket._writev?.bind(socket);
  socket._writev = (chunks, done) => {
    pieces += 1;
    writev?.(chunks, done);
  };
  for (const text of ["a", "b", "c"]) writeCorked(socket, text);
  await Promise.resolve().then(() => writeCorked(socket, "d"));
  await new Promise(setImmediate);
  expect([pieces, socket.writableCorked, socket.writableLength]).toEqual([1, 0, 0]);
  socket.end();
  expect(await received).toBe("abcd");
});

it("closes where it is ended before what was written has left, which leaves first", async () => {
  const socket = await connect();
  writeCorked(socket, "last words");
  socket.end();
  await once(socket, "close");
  expect(await received).toBe("last words");
});
