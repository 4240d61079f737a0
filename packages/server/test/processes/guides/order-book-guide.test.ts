import { spawn } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { blocksOf } from "../../harness/document-blocks.js";
import { eventually } from "../../harness/eventually.js";
import { type BursarProcess, spawnBursar } from "../../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

const page = "docs/guides/order-book.md";
const folder = createTemporaryFolder("order-book");
const env = { BURSAR_DATA_DIR: join(folder, "data") };
let sandbox: BursarProcess;
let url: string;
let token: string;
beforeAll(async () => {
  sandbox = spawnBursar({ args: ["dev"], env });
  url = await sandbox.ready();
  const printed = spawnBursar({ args: ["token"], env });
  await printed.exited;
  token = printed.output().trim();
});
afterAll(async () => {
  sandbox.child.kill("SIGTERM");
  await sandbox.exited;
  rmSync(folder, { recursive: true, force: true });
});

/** Parses the request of a command in the guide. */
async function request(command: string): Promise<unknown> {
  const [, path = ""] = /http:\/\/127\.0\.0\.1:8080([^\s"]+)/.exec(command) ?? [];
  const [, body] = /-d '([^']+)'/.exec(command) ?? [];
  const [, key] = /Idempotency-Key: ([^"]+)"/.exec(command) ?? [];
  const response = await fetch(url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    ...(body === undefined ? {} : { body }),
  });
  return await response.json();
}

it("the guide's copy of a book follows it, through an order like the guide's", async () => {
  const commands = blocksOf(page, "sh").flatMap((block) =>
    block.split(/^(?=curl)/m).filter((one) => one.startsWith("curl")),
  );
  const [look = "", place = "", list = ""] = commands;
  const book = await eventually(
    async () => (await request(look)) as { bids: string[][]; asks: string[][] },
    ({ bids, asks }) => bids.length === 5 && asks.length === 5,
  );
  expect(Number(book.bids[0]?.[0])).toBeLessThan(Number(book.asks[0]?.[0]));
  const file = join(folder, "book.mjs");
  writeFileSync(file, blocksOf(page, "js")[0] ?? "");
  const copy = spawn(process.execPath, ["--experimental-websocket", "--no-warnings", file], {
    env: { BURSAR_URL: url, BURSAR_TOKEN: token },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  createInterface(copy.stdout).on("line", (line) => lines.push(line));
  const grown = (to: number) =>
    eventually(
      () => lines.length,
      (count) => count >= to,
    );
  await grown(1);
  expect(await request(place)).toMatchObject({ object: "order", state: "pending" });
  await grown(2);
  copy.kill();
  expect(lines[0]).toMatch(/^\d+ bid \[ '\d+', '[\d.]+' \] ask \[ '\d+', '[\d.]+' \]$/);
  expect(await request(list)).toMatchObject({ data: [{ price: "2900", size: "0.50", state: "open" }] });
});
