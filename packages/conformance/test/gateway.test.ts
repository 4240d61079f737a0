import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Report } from "../src/report/report.js";
import { plainFile, run } from "./run-command-line.js";
import { startPlainServer } from "./servers/plain/plain-server.js";
import { badGateway, startProxy } from "./servers/proxy.js";

/** A service that has ended behind a gateway, which answers everything with 502. */

const folder = mkdtempSync(join(tmpdir(), "bursar-gateway-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const targetFile = join(folder, "plain.yaml");

/** Passes requests on until the service has ended, or does not answer any more. */
async function startGateway(serviceUrl: string) {
  let isGone = false;
  let silent: RegExp | undefined;
  const proxy = await startProxy(serviceUrl, ({ method, url }) => {
    if (silent?.test(`${method} ${url}`) === true) return {};
    return isGone ? badGateway : undefined;
  });
  return {
    ...proxy,
    end: () => {
      isGone = true;
    },
    fallSilent: (requests: RegExp) => {
      silent = requests;
    },
  };
}

type Gateway = Awaited<ReturnType<typeof startGateway>>;

/** How long the kit waits for an answer. Long, where a test has an answer to each request: the machine may have much else to do. */
const longMs = 20_000;
const shortMs = 1000;

async function runThrough(requestMs: number, act: (gateway: Gateway, marks: number) => void) {
  writeFileSync(targetFile, plainFile.replace("request_ms: 5000", `request_ms: ${requestMs}`));
  const service = await startPlainServer();
  const gateway = await startGateway(service.url);
  let marks = 0;
  act(gateway, marks);
  const onProgress = (text: string) => {
    marks += /^[.wFn-]$/.test(text) ? 1 : 0;
    act(gateway, marks);
  };
  const json = join(folder, "report.json");
  const args = ["--base-url", gateway.url, "--target", targetFile, "--json", json];
  const ran = await run(args, { onProgress });
  await gateway.stop();
  await service.stop();
  return { ...ran, json };
}

// During a check that expects refusals, and during one that expects the opposite.
it.each([5, 30, 40])("a service that ends after %i checks is one sentence, and no failure", async (after) => {
  const { status, out, json } = await runThrough(longMs, (gateway, marks) => {
    if (marks >= after) gateway.end();
  });
  const { checks } = JSON.parse(readFileSync(json, "utf8")) as Report;
  expect(checks.filter(({ result }) => result === "failed")).toEqual([]);
  expect(checks.slice(after).filter(({ result }) => result === "passed")).toEqual([]);
  expect(out.match(/GET \/v1\/orderbook is answered with 502 by a gateway in front of it/g)).toHaveLength(1);
  expect(status).toBe(2);
});

it("a service that does not answer any more is one sentence, and no failure", async () => {
  const { status, out, json } = await runThrough(shortMs, (gateway, marks) => {
    if (marks >= 30) gateway.fallSilent(/./);
  });
  const { checks } = JSON.parse(readFileSync(json, "utf8")) as Report;
  expect(checks.filter(({ result }) => result === "failed")).toEqual([]);
  expect(out.match(/GET \/v1\/orderbook has no response within 1000 ms either/g)).toHaveLength(1);
  expect(status).toBe(2);
});

it("one operation that does not answer any more is one failure", async () => {
  const { status, json } = await runThrough(shortMs, (gateway, marks) => {
    if (marks >= 10) gateway.fallSilent(/^GET \/v1\/transactions/);
  });
  const { checks } = JSON.parse(readFileSync(json, "utf8")) as Report;
  const failed = checks.filter(({ result }) => result === "failed");
  expect(failed.map(({ seen }) => seen)).toEqual(["no complete response within 1000 ms"]);
  expect(status).toBe(1);
});

it("a service that has ended before the run is refused with one sentence", async () => {
  const { status, err } = await runThrough(longMs, (gateway) => gateway.end());
  expect({ status, lines: err.trimEnd().split("\n").length }).toEqual({ status: 2, lines: 1 });
  expect(err).toContain("answers with status 502 and no error object: a gateway");
});
