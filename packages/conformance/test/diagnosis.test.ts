import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Report } from "../src/report/report.js";
import { readTarget } from "../src/target/read-target.js";
import type { FaultName } from "./faults/faults.js";
import { environment, plainFile, run } from "./run-command-line.js";
import { startPlainServer } from "./servers/plain/plain-server.js";

/** What a reader of the terminal learns about the cause: of the target, of the address or of the target file. */

const folder = mkdtempSync(join(tmpdir(), "bursar-diagnosis-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
const write = (text: string) => {
  files += 1;
  const file = join(folder, `${files}.yaml`);
  writeFileSync(file, text);
  return file;
};

async function runPlain(faults: readonly FaultName[], args: readonly string[], file = write(plainFile)) {
  const server = await startPlainServer(faults);
  try {
    return await run(["--base-url", server.url, "--target", file, ...args]);
  } finally {
    await server.stop();
  }
}

/** A target file whose signatures a command verifies, which is this script. */
const verifiedBy = (script: string) =>
  write(
    plainFile.replace(
      "{ scheme: standard-webhooks }",
      JSON.stringify({ scheme: "command", command: ["node", "-e", script] }),
    ),
  );

it("a target that drops malformed JSON is tried, and fails the check that is about it", async () => {
  const { status, out } = await runPlain(["malformed-dropped"], ["--only", "body.malformed"]);
  expect(status).toBe(1);
  expect(out).toContain("FAILED body.malformed");
});

it("a wrong status of creation is one failure, and only what is about that status waits for it", async () => {
  const json = join(folder, "status.json");
  const { status, out } = await runPlain(["create-200"], ["--json", json]);
  const { checks } = JSON.parse(readFileSync(json, "utf8")) as Report;
  const idsOf = (result: string) => checks.filter((one) => one.result === result).map(({ id }) => id);
  expect({ status, failed: idsOf("failed") }).toEqual({ status: 1, failed: ["tx.create.accepted"] });
  const waiting = checks.filter(({ reason }) => reason?.includes("waits for tx.create.accepted") === true);
  expect(waiting.map(({ id }) => id)).toEqual([
    "tx.create.not-final",
    "tx.create.each",
    "tx.create.every-not-final",
  ]);
  expect(out).toContain("does not conform to contract");
  expect(out).toMatch(/ s, read (\d+) of \1 accepted transactions, run /);
});

it("a command that rejects a signature is shown with its status and its message", async () => {
  const file = verifiedBy("console.error('no such key'); process.exit(7)");
  const { out } = await runPlain([], ["--only", "webhook.signature.valid"], file);
  expect(out).toContain("FAILED webhook.signature.valid");
  expect(out).toContain("it exited with 7 and wrote no such key");
});

it("a command that is not there is a mistake of the target file", async () => {
  const file = write(
    plainFile.replace("{ scheme: standard-webhooks }", "{ scheme: command, command: [./not-there] }"),
  );
  const { status, err } = await runPlain([], [], file);
  expect(status).toBe(2);
  expect(err).toContain("names ./not-there, which is no program that can be started");
});

it("the request id is that of the exchange that failed, which is marked", async () => {
  const { out } = await runPlain(["message-missing"], ["--only", "error.message"]);
  const failure = out.split(/\n\n/).find((block) => block.startsWith("FAILED error.message")) ?? "";
  expect(failure.match(/<- seen/g)).toHaveLength(1);
  expect(failure).toMatch(/POST \S+ -> 400 <- seen/);
  expect(failure).toMatch(/ {2}request {3}[0-9a-f-]{36}/);
});

it("an address that already has the prefix is named, with the one to pass", async () => {
  const server = await startPlainServer();
  const { status, err } = await run(["--base-url", `${server.url}/v1`, "--token", "t"]);
  await server.stop();
  expect({ status, lines: err.trimEnd().split("\n").length }).toEqual({ status: 2, lines: 1 });
  expect(err).toContain(`ends in /v1, which the kit appends itself`);
  expect(err).toContain(`Pass ${server.url}.`);
});

it("a host that has nothing of the service is named before a check runs", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(404, { "content-type": "text/html" }).end("<h1>Not Found</h1>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status, err } = await run(["--base-url", url, "--token", "t"]);
  server.close();
  expect(status).toBe(2);
  expect(err.trimEnd().split("\n").at(-1)).toContain(
    `${url}/ does not seem to be the address of the service: GET /v1/orderbook is answered with 404`,
  );
});

it("a service without an order book that refuses a payment with 404 is no other host", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(404, { "content-type": "application/json" });
    response.end(
      JSON.stringify({ error: { code: "NO_WALLET", message: "None.", request_id: randomUUID() } }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status, out } = await run(["--base-url", url, "--token", "t", "--only", "tx.create.admitted"]);
  server.close();
  expect(status).toBe(1);
  expect(out).toMatch(/seen +status 404/);
});

it("an order book of several megabytes is read", async () => {
  const server = createServer((_request, response) => {
    response.end(JSON.stringify({ bids: [], asks: [], note: "x".repeat(4 << 20) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { out } = await run(["--base-url", url, "--token", "t", "--only", "book.snapshot"]);
  server.close();
  expect(out).toContain("selected checks of contract 0.1.0: 2 of 2");
});

it("an address that redirects everything is named, with where it redirects to", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(301, { location: "https://pay.example/" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status, err } = await run(["--base-url", url, "--token", "t"]);
  server.close();
  expect(status).toBe(2);
  expect(err).toContain("redirects with status 301 to https://pay.example/");
});

it("init states no times that nobody has stated", async () => {
  const file = join(folder, "init.yaml");
  await run(["init", file], { input: "\n".repeat(20) });
  const target = readTarget(
    readFileSync(file, "utf8"),
    { token: "t" },
    { ...environment, CONFORMANCE_TOKEN: "t" },
  );
  expect([...target.statedTiming]).toEqual([]);
});
