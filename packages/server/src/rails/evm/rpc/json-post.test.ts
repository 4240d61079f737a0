import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it, onTestFinished } from "vitest";
import { createJsonPost } from "./json-post.js";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

it("ends requests to a node that never answers, although garbage is collected meanwhile", async () => {
  const node = createServer((request, response) => {
    if (request.url === "/quick") response.end("{}");
  });
  await new Promise<void>((resolve) => node.listen(0, "127.0.0.1", resolve));
  const { port } = node.address() as AddressInfo;
  const quick = createJsonPost(`http://127.0.0.1:${port}/quick`, { timeoutMs: 4000 });
  const silent = createJsonPost(`http://127.0.0.1:${port}`, { timeoutMs: 400 });
  onTestFinished(async () => {
    node.closeAllConnections();
    node.close();
    await quick.close();
    await silent.close();
  });
  const eight = (http: typeof quick) =>
    Array.from({ length: 8 }, async () => {
      const { signal } = new AbortController();
      return await http.post("{}", { bytesMax: 1000, givenUp: signal });
    });
  // Until the code is optimised, a suspended function keeps all of its variables.
  for (let round = 0; round < 300; round++) await Promise.all(eight(quick));
  const open = eight(silent);
  const collecting = setInterval(collectGarbage, 50);
  onTestFinished(() => clearInterval(collecting));
  const posted = await Promise.all(open);
  expect(posted).toEqual(Array(8).fill({ kind: "timed_out", reason: "no whole answer within 400 ms" }));
}, 30_000);
