import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { environment, plainFile } from "./run-command-line.js";
import { startPlainServer } from "./servers/plain/plain-server.js";
import { type ProxyAnswer, startProxy } from "./servers/proxy.js";

/** What is left behind by a run that is interrupted. */

const folder = mkdtempSync(join(tmpdir(), "bursar-interrupted-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const targetFile = join(folder, "plain.yaml");
writeFileSync(targetFile, plainFile);
const json = join(folder, "report.json");

/** The command as a process that has registered its endpoint. */
async function startProcess(
  intercept: (request: IncomingMessage) => ProxyAnswer | undefined = () => undefined,
) {
  const server = await startPlainServer(["no-webhook"]);
  const proxy = await startProxy(server.url, intercept);
  const program = fileURLToPath(new URL("../bin/bursar-conformance.mjs", import.meta.url));
  const child: ChildProcess = spawn(
    process.execPath,
    [program, "--base-url", proxy.url, "--target", targetFile, "--json", json],
    { env: { ...process.env, ...environment }, stdio: "ignore" },
  );
  const exited = new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));
  while (server.endpointCount() === 0 && child.exitCode === null) await delay(5);
  const stop = async () => {
    await proxy.stop();
    await server.stop();
  };
  return { child, exited, server, stop };
}

it("Ctrl-C ends the process with a report, and without the webhook endpoint that it registered", async () => {
  const { child, exited, server, stop } = await startProcess();
  child.kill("SIGINT");
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(server.endpointCount()).toBe(0);
  await stop();
  expect(readFileSync(json, "utf8")).toContain("The run was interrupted.");
});

it("two signals of one Ctrl-C, from the terminal and from npm, count as one", async () => {
  const { child, exited, server, stop } = await startProcess();
  child.kill("SIGINT");
  await delay(20);
  child.kill("SIGINT");
  expect(await exited).toEqual({ code: 1, signal: null });
  expect(server.endpointCount()).toBe(0);
  await stop();
});

it("a later second Ctrl-C ends the process at once", async () => {
  const withoutAnswer = ({ method }: IncomingMessage) => (method === "DELETE" ? {} : undefined);
  const { child, exited, stop } = await startProcess(withoutAnswer);
  child.kill("SIGINT");
  await delay(1000);
  const before = performance.now();
  child.kill("SIGINT");
  expect(await exited).toEqual({ code: null, signal: "SIGINT" });
  expect(performance.now() - before).toBeLessThan(3000);
  await stop();
});
