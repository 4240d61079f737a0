import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { checkTable } from "../src/checks/table.js";
import { runChecks } from "../src/engine/run-checks.js";
import { createSession, defaultBounds } from "../src/engine/session.js";
import { createReport } from "../src/report/report.js";
import { readTarget } from "../src/target/read-target.js";
import { withNeeds } from "./faults/fault-reach.js";
import { runPlain } from "./plain-target.js";
import { environment, plainFile } from "./run-command-line.js";
import { plainTokens, startPlainServer } from "./servers/plain/plain-server.js";

/** A target is not to blame for the time of a run. */

const checksOf = (...prefixes: string[]) =>
  checkTable.filter(({ id }) => prefixes.some((prefix) => id.startsWith(prefix)));

it("errors are judged by what was seen when the time has passed, and the way out is named", async () => {
  const server = await startPlainServer();
  const target = readTarget(plainFile, { baseUrl: server.url }, environment);
  const session = createSession({ target, token: plainTokens.own });
  await runChecks(session, { checks: checksOf("tx.create", "error.object"), isSlow: false });
  const late = { ...session, deadline: performance.now() };
  const results = await runChecks(late, { checks: checksOf("error.every", "book.get"), isSlow: false });
  await server.stop();
  const outcomeOf = (id: string) => results.find(({ check }) => check.id === id)?.outcome;
  const passed = "The 3 minutes of the run have passed. Pass --slow, which allows 7 minutes more";
  expect(outcomeOf("error.every.object")).toMatchObject({
    result: "warned",
    reason: expect.stringContaining(passed),
  });
  expect(outcomeOf("error.every.code")).toEqual({ result: "passed" });
  expect(outcomeOf("error.every.request-id")).toEqual({ result: "passed" });
  expect(outcomeOf("book.get")).toMatchObject({ result: "not run", reason: expect.stringContaining(passed) });
});

it("a response that the end of the run did not wait for is no failure", async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const target = readTarget(plainFile, { baseUrl }, environment);
  const bounds = { ...defaultBounds, durationMs: 100 };
  const session = createSession({ target, token: plainTokens.own, bounds });
  const [result] = await runChecks(session, { checks: checksOf("book.get"), isSlow: false });
  server.close();
  expect(result?.outcome).toMatchObject({ result: "not run", reason: expect.stringContaining("--slow") });
});

it("the last line says that the time has passed, so that nobody takes it for a failure", async () => {
  const server = await startPlainServer();
  const target = readTarget(plainFile, { baseUrl: server.url }, environment);
  const session = { ...createSession({ target, token: plainTokens.own }), deadline: performance.now() };
  const results = await runChecks(session, { checks: checksOf("book.get"), isSlow: false });
  await server.stop();
  const report = createReport({
    session,
    results,
    kitVersion: "0",
    startedAt: new Date(),
    durationMs: 1,
    isComplete: true,
    knownFailures: new Set(),
    leftBehind: [],
  });
  expect(report.summary).toBe(
    "not decided for contract 0.1.0: 0 of 1, 1 not run. The 3 minutes of the run have passed. Pass --slow, which allows 7 minutes more, or run fewer checks at a time with --only.",
  );
});

it("results that some transactions lack in notifications are not decided, if their time is not stated", async () => {
  const checks = withNeeds(["webhook.each.every"]);
  const run = { checks, isSlow: false, isTimingStated: false };
  const results = await runPlain(["long-result-not-announced"], run);
  expect(results.find(({ check }) => check.id === "webhook.each.every")?.outcome).toMatchObject({
    result: "not run",
    isUndecided: true,
    reason: expect.stringContaining("timing.webhook_ms"),
  });
});

it("transactions of the run that have no result are not decided, if the time of a result is not stated", async () => {
  const id = "tx.get.every-result";
  const run = { checks: withNeeds([id]), isSlow: false, isTimingStated: false };
  const reasonsOf = async (faults: Parameters<typeof runPlain>[0]) =>
    (await runPlain(faults, run)).flatMap(({ outcome }) =>
      outcome.result === "not run" && outcome.isUndecided === true ? [outcome.reason] : [],
    );
  expect(await reasonsOf([])).toEqual([]);
  expect(await reasonsOf(["some-never-final"])).toContainEqual(expect.stringContaining("timing.result_ms"));
});
