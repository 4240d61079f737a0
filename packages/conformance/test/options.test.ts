import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { checkTable } from "../src/checks/table.js";
import { exitStatus } from "../src/cli/run-command.js";
import { runChecks } from "../src/engine/run-checks.js";
import { createSession, defaultBounds } from "../src/engine/session.js";
import { createReport, type Report } from "../src/report/report.js";
import { readTarget } from "../src/target/read-target.js";
import { environment, plainFile, run } from "./run-command-line.js";
import { plainTokens, startPlainServer } from "./servers/plain/plain-server.js";
import { type ProxyAnswer, startProxy } from "./servers/proxy.js";

/** What each option of the command does, and what bounds a run. */

const folder = mkdtempSync(join(tmpdir(), "bursar-options-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const targetFile = join(folder, "plain.yaml");
writeFileSync(targetFile, plainFile.replace("timing: {", "timing: { slow_ms: 100,"));
const json = join(folder, "report.json");
const har = join(folder, "run.har");

interface Har {
  readonly log: {
    readonly entries: readonly { request: { method: string; url: string; postData?: { text: string } } }[];
  };
}

/** The command against a Plain server, with its reports; `intercept` answers instead of the server. */
async function runAgainstPlain(
  args: readonly string[],
  intercept: (request: IncomingMessage) => ProxyAnswer | undefined = () => undefined,
) {
  const server = await startPlainServer();
  const proxy = await startProxy(server.url, intercept);
  try {
    const reports = ["--json", json, "--har", har];
    for (const file of [json, har]) rmSync(file, { force: true });
    const ran = await run(["--base-url", proxy.url, "--target", targetFile, ...reports, ...args]);
    const report = JSON.parse(readFileSync(json, "utf8")) as Report;
    const { log } = JSON.parse(readFileSync(har, "utf8")) as Har;
    const endpoints = server.endpointCount();
    return { ...ran, report, sent: log.entries.map(({ request }) => request), endpoints };
  } finally {
    await proxy.stop();
    await server.stop();
  }
}

it("--list prints the selected checks with their levels, and sends nothing", async () => {
  const { status, out } = await run(["--list", "--base-url", "http://127.0.0.1:1", "--token", "t"]);
  expect(status).toBe(0);
  const ids = out
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ")[0]);
  expect(ids).toEqual(checkTable.map(({ id }) => id));
  expect((await run(["--list", "--only", "book"])).out).toMatch(/^book\.get +contract +\S/m);
});

it("--skip leaves checks out, and what they were cannot be called conforming", async () => {
  const { status, report } = await runAgainstPlain(["--only", "book", "--skip", "book.snapshot"]);
  expect(status).toBe(0);
  expect(report.checks.map(({ id }) => id)).toContain("book.get");
  expect(report).toMatchObject({ is_complete: false, conforms: false });
  const all = await run(["--list"]);
  const some = await run(["--list", "--skip", "webhook"]);
  expect(some.out.length).toBeLessThan(all.out.length);
  expect(some.out).not.toMatch(/^webhook\./m);
});

it("--profile runs a profile that the target file does not name", async () => {
  const resultOf = async (...args: string[]) => {
    const { report } = await runAgainstPlain(["--only", "orderbook", ...args]);
    return new Set(
      report.checks.filter(({ profile }) => profile === "orderbook").map(({ result }) => result),
    );
  };
  expect(await resultOf()).toEqual(new Set(["not offered"]));
  expect(await resultOf("--profile", "orderbook")).toContain("passed");
});

it("a profile that --profile names decides the exit status, and one that the target file names does not", async () => {
  const book = { market: "ETH-USD", bids: [["99", "0"]], asks: [] };
  const intercept = ({ url }: IncomingMessage) =>
    url === "/v1/orderbook" ? { status: 200, body: JSON.stringify(book) } : undefined;
  const statusOf = async (...args: string[]) => {
    const { status, report } = await runAgainstPlain(["--only", "orderbook", ...args], intercept);
    const failed = report.checks.filter(({ result }) => result === "failed");
    return { status, failed: failed.map(({ level }) => level) };
  };
  const offering = join(folder, "offering.yaml");
  writeFileSync(offering, `${plainFile}profiles: [orderbook]\n`);
  expect(await statusOf("--target", offering)).toEqual({ status: 0, failed: ["profile"] });
  expect(await statusOf("--profile", "orderbook")).toEqual({ status: 1, failed: ["profile"] });
  const known = join(folder, "known.json");
  writeFileSync(known, readFileSync(json));
  expect((await statusOf("--profile", "orderbook", "--baseline", known)).status).toBe(0);
});

it("--profile adds to the profiles of the target file, and the others are not called missing", async () => {
  const offering = join(folder, "two.yaml");
  writeFileSync(offering, `${plainFile}profiles: [ratelimit]\n`);
  const args = ["--target", offering, "--only", "orderbook", "--only", "ratelimit", "--only", "oauth"];
  const { report } = await runAgainstPlain([...args, "--profile", "orderbook"]);
  const reasonOf = (name: string) => report.checks.find(({ profile }) => profile === name)?.reason;
  expect(reasonOf("orderbook")).toBeUndefined();
  expect(reasonOf("ratelimit")).toContain("limited");
  expect(reasonOf("oauth")).toBe("Neither the target file nor --profile names the profile oauth.");
});

it("a profile that --profile names and that nothing could be looked at of is not kept", async () => {
  const { status, report } = await runAgainstPlain(["--only", "ratelimit", "--profile", "ratelimit"]);
  expect(new Set(report.checks.filter(({ profile }) => profile).map(({ result }) => result))).toEqual(
    new Set(["not offered"]),
  );
  expect(status).toBe(1);
  expect(report.summary).toMatch(/; profile ratelimit: 0 of 1, 1 not offered$/);
});

it("a selected check that is not decided or not run is in the exit status, also with a baseline", async () => {
  const never = ({ method, url }: IncomingMessage) =>
    method === "GET" && url?.startsWith("/v1/transactions/") === true
      ? { status: 200, body: JSON.stringify({ result: { phase: "open" } }) }
      : undefined;
  const args = ["--only", "tx.get.result", "--only", "book"];
  const { status, report } = await runAgainstPlain(args, never);
  expect(report.checks.filter(({ undecided }) => undecided).map(({ id }) => id)).toEqual(["tx.get.state"]);
  expect(report.checks.filter(({ result }) => result === "failed")).toEqual([]);
  expect(status).toBe(1);
  const known = { id: "book.get", level: "contract", result: "failed", known: true } as const;
  const waiting = {
    id: "book.snapshot",
    level: "contract",
    result: "not run",
    waits_for: "book.get",
  } as const;
  const statusOf = (...checks: unknown[]) =>
    exitStatus({ checks: checks as Report["checks"] }, { unreachable: undefined });
  expect(statusOf(known, waiting)).toBe(0);
  expect(statusOf(known, { ...waiting, id: "tx.get.found", waits_for: undefined })).toBe(1);
});

it("--seed changes the order of the requests, and not that of the report", async () => {
  const args = ["--only", "error", "--only", "book"];
  const orderOf = async (seed: string) => {
    const { sent, report } = await runAgainstPlain([...args, "--seed", seed]);
    return {
      seed: report.seed,
      sent: sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`),
      report,
    };
  };
  const [first, second] = [await orderOf("1"), await orderOf("2")];
  expect([first.seed, second.seed]).toEqual([1, 2]);
  expect(first.sent).not.toEqual(second.sent);
  const idsOf = (report: Report) => report.checks.map(({ id }) => id);
  expect(idsOf(first.report)).toEqual(idsOf(second.report));
  const table = checkTable.map(({ id }) => id);
  expect(idsOf(first.report)).toEqual(table.filter((id) => idsOf(first.report).includes(id)));
});

it("--slow adds the checks that wait", async () => {
  const only = checkTable
    .filter(({ slow, level }) => slow === true && level === "contract")
    .map(({ id }) => id);
  const args = only.flatMap((id) => ["--only", id]);
  const resultsOf = (report: Report) =>
    report.checks.filter(({ id }) => only.includes(id)).map(({ result, slow }) => ({ result, slow }));
  const without = resultsOf((await runAgainstPlain(args)).report);
  expect(without.map(({ slow }) => slow)).toEqual(only.map(() => true));
  const added = resultsOf((await runAgainstPlain([...args, "--slow"])).report);
  expect(added.map(({ slow }) => slow)).toEqual(only.map(() => undefined));
});

it("--webhook-url is the address that is registered", async () => {
  const receiver = "http://receiver.example:9/hooks";
  const { sent } = await runAgainstPlain(["--only", "webhook.sent", "--webhook-url", receiver]);
  const registered = sent.filter(({ url }) => url.endsWith("/v1/webhook-endpoints"));
  expect(registered.length).toBeGreaterThan(0);
  for (const { postData } of registered) expect(postData?.text).toContain(receiver);
});

it("every reference that is created names the run", async () => {
  const { sent, report } = await runAgainstPlain(["--only", "tx", "--only", "key"]);
  const references = sent
    .filter(({ method, url }) => method === "POST" && url.endsWith("/v1/transactions"))
    .flatMap(({ postData }) => /"reference":"([^"]*)"/.exec(postData?.text ?? "")?.[1] ?? []);
  expect(references.length).toBeGreaterThan(20);
  for (const reference of references) expect(reference).toMatch(`conformance-${report.run}-`);
});

it("a refusal by quota is waited out for as long as Retry-After says", async () => {
  const atMs: number[] = [];
  const body = JSON.stringify({ error: { code: "LATER", message: "Later.", request_id: "r" } });
  const refusal = { status: 429, headers: { "retry-after": "2", "content-type": "application/json" }, body };
  // The first request only looks whether there is a service.
  const { status } = await runAgainstPlain(["--only", "book.get"], ({ url = "" }) => {
    if (url !== "/v1/orderbook") return undefined;
    atMs.push(performance.now());
    return atMs.length === 2 ? refusal : undefined;
  });
  expect(status).toBe(0);
  expect((atMs[2] ?? 0) - (atMs[1] ?? 0)).toBeGreaterThanOrEqual(1990);
});

it("what could not be removed is listed", async () => {
  const { status, report, out, endpoints } = await runAgainstPlain(
    ["--only", "webhook.sent"],
    ({ method }) => (method === "DELETE" ? { status: 500 } : undefined),
  );
  expect(status).toBe(0);
  expect(endpoints).toBe(1);
  expect(report.left_behind).toEqual([expect.stringMatching(/webhook endpoint .*500/)]);
  expect(out).toContain(report.left_behind[0]);
});

it("a run sends no more requests than its bound, and says which checks were left out for it", async () => {
  const server = await startPlainServer();
  const target = readTarget(plainFile, { baseUrl: server.url }, environment);
  const requestsMax = 25;
  const session = createSession({
    target,
    token: plainTokens.own,
    bounds: { ...defaultBounds, requestsMax },
  });
  const results = await runChecks(session, { checks: checkTable, isSlow: false });
  await server.stop();
  expect(session.exchanges.length).toBe(requestsMax);
  const reasons = results.flatMap(({ outcome }) => ("reason" in outcome ? [outcome.reason] : []));
  expect(reasons).toContain("The 25 requests of the run are used up.");
  expect(defaultBounds).toMatchObject({ requestsMax: 600, durationMs: 180_000 });
});

it("a fault of the kit is no failure of the target, and ends with status 3", async () => {
  const server = await startPlainServer();
  const target = readTarget(plainFile, { baseUrl: server.url }, environment);
  const session = createSession({ target, token: plainTokens.own });
  const [first] = checkTable.filter(({ id }) => id === "book.get");
  if (first === undefined) throw new Error("no such check");
  const faulty = {
    ...first,
    run: async () => {
      throw new TypeError("a mistake in the check");
    },
  };
  const results = await runChecks(session, { checks: [faulty], isSlow: false });
  await server.stop();
  const report = createReport({
    session,
    results,
    kitVersion: "0",
    startedAt: new Date(),
    durationMs: 1,
    isComplete: false,
    knownFailures: new Set(),
    leftBehind: [],
  });
  expect(report.checks[0]).toMatchObject({ result: "broken", reason: expect.stringContaining("a mistake") });
  expect(exitStatus(report, session)).toBe(3);
});

it("the members of the report are those of the guide, in the same order in every run", async () => {
  const guide = readFileSync(new URL("../../../docs/guides/conformance.md", import.meta.url), "utf8");
  const members = [...guide.matchAll(/`(\w+)`/g)].map(([, member]) => member);
  const refuse = ({ url }: IncomingMessage) => (url === "/v1/wallets" ? { status: 500 } : undefined);
  const one = await runAgainstPlain(["--only", "book", "--only", "webhook.sent"]);
  const other = await runAgainstPlain(["--only", "wallet"], refuse);
  expect(Object.keys(one.report)).toEqual(Object.keys(other.report));
  for (const { report } of [one, other])
    for (const member of [...Object.keys(report), ...report.checks.flatMap((check) => Object.keys(check))])
      expect(members).toContain(member);
});
