import { Agent, createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readTarget } from "../target/read-target.js";
import { NoResponse } from "./check.js";
import { createKit } from "./kit.js";
import { createSession } from "./session.js";

/** Answers the first request of a connection, and closes it instead of a response to the second. */
let server: Server;
const seen: string[] = [];
beforeAll(async () => {
  const used = new WeakSet<object>();
  server = createServer((request, response) => {
    seen.push(request.method ?? "");
    if (used.has(request.socket)) request.socket.destroy();
    else response.end("{}");
    used.add(request.socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => server.close());

/** A request on a connection that was used before. */
async function sendOnUsed(method: string, headers: readonly (readonly [string, string])[] = []) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const kit = createKit(createSession({ target: readTarget("", { baseUrl, token: "t" }, {}), token: "t" }));
  await kit.send("GET", "/first", { agent });
  seen.length = 0;
  try {
    const reply = await kit.send(method, "/v1/transactions", { agent, headers }).catch((error) => error);
    return { reply, sent: [...seen] };
  } finally {
    agent.destroy();
  }
}

it.each([
  ["GET", []],
  ["POST", [["Idempotency-Key", "k"]]],
] as const)(
  "a %s that can be repeated is sent again if its connection was closed",
  async (method, headers) => {
    const { reply, sent } = await sendOnUsed(method, headers);
    expect(reply).toMatchObject({ status: 200 });
    expect(sent).toEqual([method, method]);
  },
);

it("a POST without a key is sent once, because the target may have carried it out", async () => {
  const { reply, sent } = await sendOnUsed("POST");
  expect(reply).toBeInstanceOf(NoResponse);
  expect(sent).toEqual(["POST"]);
});
