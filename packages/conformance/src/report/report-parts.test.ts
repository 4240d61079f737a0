import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { checkTable } from "../checks/table.js";
import type { CheckResult } from "../engine/run-checks.js";
import { createSession } from "../engine/session.js";
import { readTarget } from "../target/read-target.js";
import { curlCommands, curlOf, quote } from "./curl.js";
import { groupRepeated } from "./group-repeated.js";
import { htmlReport } from "./html.js";
import { junitReport } from "./junit.js";
import { escapeMarkup } from "./markup.js";
import { createRedactor } from "./redact.js";
import { createReport, type Report } from "./report.js";
import { safeLine } from "./safe-text.js";
import { terminalReport } from "./terminal.js";

const exchange = (headers: [string, string][], body: string) => ({
  index: 0,
  startedAt: new Date(0),
  durationMs: 1,
  pausedMs: 0,
  request: { method: "POST", url: new URL("http://127.0.0.1/v1/x?t=a%2Fsecret%2Ftoken"), headers, body },
  response: { status: 200, headers: [["Set-Cookie", "session=1"] as const], body: Buffer.from(body) },
});

it.each(["plain", "it's", 'a "double" one', "$(id) `id` \\ !", "two\nlines", "é–✓", ""])(
  "a shell reads the quoted string %j as it was",
  (text) => {
    expect(execFileSync("sh", ["-c", `printf %s ${quote(text)}`], { encoding: "utf8" })).toBe(text);
  },
);

it("a shell fills in the token of a curl command, and nothing else", () => {
  const shown = createRedactor({ secrets: new Map([["a/secret/token", "$TOKEN"]]) }).exchange(
    exchange([["Authorization", "Bearer a/secret/token"]], "{}"),
  );
  const command = curlOf(shown).replace(/^curl/, "printf '%s\n'");
  const printed = execFileSync("sh", ["-c", command], {
    encoding: "utf8",
    env: { TOKEN: "t-1", PATH: process.env["PATH"] },
  });
  expect(printed).toContain("Authorization: Bearer t-1\n");
});

it("commands make new keys, and requests that were sent together are sent together again", () => {
  const redactor = createRedactor({ secrets: new Map() });
  const key = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
  const shown = redactor.exchange(exchange([["Idempotency-Key", key]], "{}"));
  const together = { ...shown, concurrent: true as const };
  const { setup, commands } = curlCommands([shown, together, together]);
  expect(setup).toBe("KEY1=$(uuidgen 2>/dev/null || cat /proc/sys/kernel/random/uuid)");
  const script = [setup, ...commands].join("\n");
  expect(script).not.toContain(key);
  const faked = `uuidgen() { echo new; }; curl() { sleep 0.2; echo "$*"; }; ${script}`;
  const printed = execFileSync("bash", ["-c", faked], { encoding: "utf8" });
  expect(printed.match(/Idempotency-Key: new/g)).toHaveLength(3);
  expect(commands.map((command) => / &( wait)?$/.exec(command)?.[0])).toEqual([undefined, " &", " & wait"]);
});

it("commands wait where the check has waited", () => {
  const redactor = createRedactor({ secrets: new Map() });
  const first = exchange([], "{}");
  const { commands } = curlCommands([first, { ...first, pausedMs: 2500 }].map(redactor.exchange));
  expect(commands.map((command) => /^.*?curl/.exec(command)?.[0])).toEqual(["curl", "sleep 2.5; curl"]);
});

it("a command keeps dots alone between slashes", () => {
  const { request, ...rest } = exchange([], "{}");
  const shown = createRedactor({ secrets: new Map() }).exchange({
    ...rest,
    request: { ...request, rawPath: "/v1/./transactions" },
  });
  expect(shown.url).toBe(`${request.url.origin}/v1/./transactions`);
  expect(curlOf(shown)).toContain(" --path-as-is ");
});

it("a command sends the very bytes of a body that is not UTF-8", () => {
  const { request, ...rest } = exchange([], '{"reference":"a\xff"}');
  const shown = createRedactor({ secrets: new Map() }).exchange({
    ...rest,
    request: { ...request, bodyEncoding: "latin1" },
  });
  const faked = `curl() { cat; }; ${curlCommands([shown]).commands.join("\n")}`;
  expect(execFileSync("bash", ["-c", faked]).toString("latin1")).toBe('{"reference":"a\xff"}');
});

it("questions that are asked in turn are shown once each, but not across a request that changes something", () => {
  const { exchange: show } = createRedactor({ secrets: new Map() });
  const get = (path: string, body: string, at: number) => {
    const { request, ...rest } = exchange([], "");
    const url = new URL(path, "http://127.0.0.1");
    const response = { status: 200, headers: [], body: Buffer.from(body) };
    return show({ ...rest, startedAt: new Date(at), request: { ...request, method: "GET", url }, response });
  };
  const asked = [0, 1, 2].flatMap((at) => [get("/one", "waits", at * 1000), get("/two", "waits", at * 1000)]);
  const groups = groupRepeated([
    ...asked,
    get("/one", "done", 3000),
    get("/one", "waits", 4000),
    show(exchange([], "{}")),
    get("/two", "waits", 5000),
  ]);
  expect(
    groups.map(({ exchange: { method, url }, times }) => [method, new URL(url).pathname, times]),
  ).toEqual([
    ["GET", "/one", 3],
    ["GET", "/two", 3],
    ["GET", "/one", 1],
    ["GET", "/one", 1],
    ["POST", "/v1/x", 1],
    ["GET", "/two", 1],
  ]);
  expect(groups[0]?.durationMs).toBe(2001);
});

it("a command makes a new key that is as short as the one of the run", () => {
  const redactor = createRedactor({ secrets: new Map() });
  const { setup } = curlCommands([
    redactor.exchange(exchange([["Idempotency-Key", "0123456789abcdef"]], "")),
  ]);
  const key = execFileSync("bash", ["-c", `${setup}; printf %s "$KEY1"`], { encoding: "utf8" });
  expect(key).toMatch(/^[0-9a-fA-F]{16}$/);
  expect(key).not.toBe("0123456789abcdef");
});

it("many keys are made by one short loop, each of its own form", () => {
  const redactor = createRedactor({ secrets: new Map() });
  const uuids = Array.from({ length: 21 }, () => randomUUID() as string);
  const keys = [...uuids.slice(0, 4), "0123456789abcdef", ...uuids.slice(4)];
  const { setup = "" } = curlCommands(
    keys.map((key) => redactor.exchange(exchange([["Idempotency-Key", key]], ""))),
  );
  expect(setup.split("uuidgen")).toHaveLength(3);
  const names = keys.map((_, at) => `"$KEY${at + 1}"`).join(" ");
  const made = execFileSync("sh", ["-c", `${setup}; printf '%s\n' ${names}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
  expect(made.map((key) => key.length)).toEqual(keys.map((key) => key.length));
  expect(new Set(made).size).toBe(keys.length);
});

it("secrets are removed wherever they are: encoded, in members with telling names, in cookies, in unknown credentials", () => {
  const redactor = createRedactor({ secrets: new Map([["a/secret/token", "$TOKEN"]]) });
  const headers: [string, string][] = [["Authorization", "Basic dW5rbm93bjpzZWNyZXQ="]];
  const body = '{"echo":"a/secret/token","client_secret":"bsk_\\"1","access_token": "eyJ"}';
  const text = JSON.stringify(redactor.exchange(exchange(headers, body)));
  for (const secret of ["a/secret", "a%2Fsecret", "bsk_", "eyJ", "session=1", "dW5rbm93"])
    expect(text).not.toContain(secret);
});

it("nothing of a target reaches a terminal or a page raw", () => {
  const hostile = "\u001b]0;title\u0007\u001b[2J\r\u202e<script>alert('1')</script>\u0000";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
  expect(safeLine(hostile)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/);
  expect(escapeMarkup(hostile)).not.toContain("<");
  expect(escapeMarkup(hostile)).not.toContain("'");
});

it("what could not be decided is called so in every report, and a CI server does not take it for good", () => {
  const report = reportOf({ result: "not run", reason: "Name shown.state.", isUndecided: true });
  expect(report.summary).toBe("not decided for contract 0.1.0: 0 of 1, 1 not decided");
  expect(terminalReport(report)).toContain("NOT DECIDED tx.create.admitted\n");
  expect(htmlReport(report)).toContain('<td class="not">not decided</td>');
  expect(junitReport(report)).toContain('tests="1" failures="0" errors="1" skipped="0"');
  expect(junitReport(report)).toContain(
    '<error type="not decided" message="not decided: Name shown.state."/>',
  );
});

it("a terminal shows a few exchanges of a check about every error, and only the beginning of a long command", () => {
  const exchanges = ["a", "b", "c", "d", "e"].map((path, index) => ({
    index,
    started_at: "2026-01-01T00:00:00.000Z",
    duration_ms: 1,
    method: "POST",
    url: `/v1/${path}`,
    request_headers: [],
    status: 500,
    ...(index > 0 ? { judged: true as const } : {}),
  }));
  const report = reportOf({ result: "warned", reason: "A page." });
  const shownOf = (id: string) => {
    const curl = exchanges.map(({ url }) => `curl ${url} ${"x".repeat(60_000)}`);
    const checks = report.checks.map((check) => ({ ...check, id, exchanges, curl }));
    return terminalReport({ ...report, checks });
  };
  const ofEvery = shownOf("error.every.object");
  expect([...ofEvery.matchAll(/POST \/v1\/(.)/g)].map(([, path]) => path).join("")).toBe("bcd");
  expect(ofEvery).toContain("and 2 more exchanges");
  expect(Math.max(...ofEvery.split("\n").map((line) => line.length))).toBeLessThan(2100);
  expect([...shownOf("tx.create.each").matchAll(/POST/g)]).toHaveLength(5);
});

function reportOf(outcome: CheckResult["outcome"]): Report {
  const target = readTarget("", { baseUrl: "http://127.0.0.1:1", token: "t" }, {});
  return createReport({
    session: createSession({ target, token: "t" }),
    results: checkTable
      .slice(0, 1)
      .map((check) => ({ check, outcome, exchanges: [], notifications: [], otherNotifications: 0 })),
    kitVersion: "0",
    startedAt: new Date(0),
    durationMs: 1,
    isComplete: true,
    knownFailures: new Set(),
    leftBehind: [],
  });
}
