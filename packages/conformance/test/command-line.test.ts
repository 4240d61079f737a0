import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { transactionsMax } from "../src/cli/run-command.js";
import type { Report } from "../src/report/report.js";
import type { FaultName } from "./faults/faults.js";
import { environment, plainFile, run } from "./run-command-line.js";
import { otherTokens, startOtherServer } from "./servers/other/other-server.js";
import { plainTokens, startPlainServer } from "./servers/plain/plain-server.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-conformance-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const targetFile = join(folder, "plain.yaml");
writeFileSync(targetFile, plainFile);
async function runAgainst(faults: readonly FaultName[], args: readonly string[] = []) {
  const server = await startPlainServer(faults);
  try {
    return await run(["--base-url", server.url, "--target", targetFile, ...args]);
  } finally {
    await server.stop();
  }
}

const readReport = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Report;

it("a server that conforms ends with status 0 and a line that can be quoted", async () => {
  const file = join(folder, "good.json");
  const { status, out, err } = await runAgainst([], ["--json", file]);
  const { counts, conforms, left_behind: left } = readReport(file);
  const { passed, total, slow } = counts.contract;
  expect({ status, conforms, left }).toEqual({ status: 0, conforms: true, left: [] });
  expect(out.trimEnd().split("\n").at(-1)).toMatch(
    `conforms to contract 0.1.0: ${passed} of ${passed}, ${slow} only with --slow; declared: `,
  );
  expect([passed + slow, slow]).toEqual([total, 2]);
  expect(passed).toBeGreaterThanOrEqual(60);
  expect(err).toContain("It creates: transactions");
});

it("a failure shows the sentence, what was expected and seen, and a command that repeats it, without a secret", async () => {
  const names = ["json", "junit", "html", "har"] as const;
  const files = names.flatMap((name) => [`--${name}`, join(folder, `bad.${name}`)]);
  const { status, out, err } = await runAgainst(["missing-key-accepted"], files);
  expect(status).toBe(1);
  expect(out).toContain("FAILED key.required");
  expect(out).toContain("Contract, section 8: POST /v1/transactions requires the Idempotency-Key header.");
  expect(out).toContain("a refusal of a request without Idempotency-Key");
  expect(out).toContain(`-H 'Authorization: Bearer '"$TOKEN"`);
  expect(out.trimEnd().split("\n").at(-1)).toContain("does not conform to contract 0.1.0");
  const written = names.map((name) => readFileSync(join(folder, `bad.${name}`), "utf8"));
  for (const text of [out, err, ...written]) {
    expect(text).not.toMatch(/whsec_[\w+/]{8}/);
    for (const secret of Object.values(plainTokens)) expect(text).not.toContain(secret);
  }
});

it("a failure of a webhook shows the notifications and the answers in every report, without a secret", async () => {
  const names = ["json", "junit", "html", "har"] as const;
  const files = names.flatMap((name) => [`--${name}`, join(folder, `hook.${name}`)]);
  const { out } = await runAgainst(["retry-unsigned"], files);
  expect(out).toContain("FAILED webhook.retry.signed");
  expect(out).toContain("--only webhook.retry.signed");
  const written = names.map((name) => readFileSync(join(folder, `hook.${name}`), "utf8"));
  for (const text of [out, ...written]) {
    expect(text).toContain("transaction.updated");
    expect(text).toMatch(/webhook-id/i);
    expect(text).not.toMatch(/whsec_[\w+/]{8}/);
  }
  for (const text of [out, ...written.slice(1, 3)]) expect(text).toMatch(/answered with 500 after \d+ ms/);
  const failed = readReport(join(folder, "hook.json")).checks.find(({ result }) => result === "failed");
  const [first, second] =
    failed?.notifications?.filter(({ body }) => body.includes("completed")).slice(-2) ?? [];
  expect({ first: first?.answer, second: second?.answer }).toEqual({ first: 500, second: 204 });
});

it("the command ends with its last line, although a target holds connections open", async () => {
  const server = await startPlainServer(["no-webhook"]);
  const program = `
    import { main } from ${JSON.stringify(new URL("../dist/cli/main-command.js", import.meta.url).href)};
    let endedAt = 0;
    process.on("exit", () => process.stdout.write(String(performance.now() - endedAt)));
    process.exitCode = await main(process.argv.slice(1), { out: () => undefined, err: () => undefined, input: process.stdin,
      environment: process.env, signal: new AbortController().signal });
    endedAt = performance.now();`;
  const args = ["--input-type=module", "-e", program, "--", "--base-url", server.url, "--target", targetFile];
  const waitedMs = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, args, { env: { ...process.env, ...environment } }, (error, printed) =>
      error === null || error.code === 1 ? resolve(printed) : reject(error),
    );
  });
  await server.stop();
  expect(Number(waitedMs)).toBeLessThan(2000);
});

it("fewer transactions are created than the announcement says", async () => {
  const file = join(folder, "count.har");
  await runAgainst([], ["--har", file]);
  const { log } = JSON.parse(readFileSync(file, "utf8")) as {
    log: { entries: { request: { method: string; url: string }; response: { status: number } }[] };
  };
  const accepted = log.entries.filter(
    ({ request, response }) => request.url.endsWith("/v1/transactions") && response.status === 202,
  );
  expect(accepted.length).toBeLessThan(transactionsMax);
});

it("no more than --max-total is sent, and what was not looked at prevents conformance", async () => {
  const [har, json] = [join(folder, "total.har"), join(folder, "total.json")];
  const args = ["--max-total", "USD=5.05", "--max-total", "ETH=1", "--har", har, "--json", json];
  const { status, out } = await runAgainst([], args);
  expect({ status, conforms: readReport(json).conforms }).toEqual({ status: 1, conforms: false });
  expect(out).toContain("above --max-total USD=5.05");
  const { log } = JSON.parse(readFileSync(har, "utf8")) as {
    log: { entries: { request: { url: string; postData?: { text: string } } }[] };
  };
  // Notifications have amounts too.
  const isPayment = ({ url, postData }: { url: string; postData?: { text: string } }) =>
    url.endsWith("/v1/transactions") && postData?.text.includes('"1.15"') === true;
  const sent = log.entries.filter(({ request }) => isPayment(request));
  expect(sent.length).toBeLessThanOrEqual(4);
});

it("known failures of a baseline do not count, and compare lists what has changed", async () => {
  const [good, bad] = [join(folder, "a.json"), join(folder, "b.json")];
  await runAgainst([], ["--json", good]);
  await runAgainst(["lower-case-code"], ["--json", bad]);
  const again = await runAgainst(["lower-case-code"], ["--baseline", bad]);
  expect(again.status).toBe(0);
  expect(again.out).toContain("FAILED error.code.form (known)");
  expect(again.out.trimEnd().split("\n").at(-1)).toMatch(
    /^does not conform to contract 0\.1\.0: \d+ of \d+, 1 failed \(1 known\), .*; every failure is in the baseline$/,
  );
  expect((await runAgainst(["unsigned"], ["--baseline", bad])).status).toBe(1);
  const compared = await run(["compare", good, bad]);
  expect(compared.status).toBe(1);
  expect(compared.out).toMatch(/error\.code\.form +passed -> failed/);
  expect(await run(["compare", good, good])).toMatchObject({ status: 0 });
});

it("what the first request has shown about keys is a warning of its check", async () => {
  const server = await startOtherServer("keys of at most 20 characters, which the target file does not say");
  const file = join(folder, "short-keys.yaml");
  writeFileSync(file, 'token_env: OTHER_TOKEN\ntransaction: { asset: POINTS, amount: "3" }\n');
  const args = ["--base-url", server.url, "--target", file, "--only", "tx.create.admitted"];
  const { status, out } = await run(args, { variables: { OTHER_TOKEN: otherTokens.own } });
  await server.stop();
  expect(status).toBe(0);
  expect(out).toContain("WARNED tx.create.admitted");
  expect(out).toContain("State the longest in key_length of the target file.");
});

it("--only runs the checks that were asked for and those that they need", async () => {
  const file = join(folder, "only.json");
  const { status, out } = await runAgainst([], ["--only", "key.race", "--json", file]);
  expect(status).toBe(0);
  expect(out).toContain("selected checks of contract 0.1.0");
  const ids = readReport(file).checks.map(({ id }) => id);
  expect(ids).toContain("key.race");
  expect(ids).toContain("tx.create.admitted");
  expect(ids).not.toContain("webhook.sent");
});

it("a wrong token is reported before anything is written", async () => {
  const server = await startPlainServer();
  const { status, err } = await run(["--base-url", server.url, "--token", "wrong"]);
  await server.stop();
  expect({ status, err }).toEqual({
    status: 2,
    err: expect.stringContaining("refuses the token with status 401"),
  });
});

it("an interrupted run ends with a report and removes its webhook endpoint", async () => {
  const server = await startPlainServer(["no-webhook"]);
  const interrupt = new AbortController();
  const running = run(["--base-url", server.url, "--target", targetFile], { signal: interrupt.signal });
  while (server.endpointCount() === 0) await delay(5);
  interrupt.abort();
  const { status, out } = await running;
  const left = server.endpointCount();
  await server.stop();
  expect({ status, left }).toEqual({ status: 1, left: 0 });
  expect(out).toContain("The run was interrupted.");
});

it("a target that ends during the run is one sentence, and no failure", async () => {
  const server = await startPlainServer();
  const [json, junit] = [join(folder, "gone.json"), join(folder, "gone.xml")];
  let marks = 0;
  const onProgress = (text: string) => {
    marks += /^[.wFn-]$/.test(text) ? 1 : 0;
    if (marks === 30) void server.stop();
  };
  const args = ["--base-url", server.url, "--target", targetFile, "--json", json, "--junit", junit];
  const { status, out } = await run(args, { onProgress });
  const { checks } = readReport(json);
  const after = checks.slice(30).filter(({ result }) => result !== "not offered");
  expect(status).toBe(2);
  expect([...new Set(after.map(({ result }) => result))]).toEqual(["not run"]);
  const sentence = /could not be reached any more during [\w.-]+, at \w+ \/[\w/]+: connect ECONNREFUSED/g;
  expect(out.match(sentence)).toHaveLength(1);
  expect(out.trimEnd().split("\n").at(-1)).toContain("not decided for contract 0.1.0: ");
  // Nothing in it failed, but a CI server must not take it for good.
  expect(readFileSync(junit, "utf8")).toMatch(/<testsuites tests="\d+" failures="0" errors="[1-9]\d*"/);
});

it("questions that were repeated are shown once, with how often and how long", async () => {
  const file = join(folder, "repeated.yaml");
  writeFileSync(file, readFileSync(targetFile, "utf8").replace("result_ms: 3000", "result_ms: 300"));
  const [json, junit, html] = ["json", "xml", "html"].map((name) => join(folder, `repeated.${name}`));
  const reports = ["--json", json ?? "", "--junit", junit ?? "", "--html", html ?? ""];
  const { out } = await runAgainst(["never-final"], ["--target", file, ...reports]);
  expect(out).toMatch(/GET \S+ -> 200 \(\d+ times in \d\.\d s\)/);
  const [failed] = readReport(json ?? "").checks.filter(({ result }) => result === "failed");
  expect(failed?.exchanges?.length).toBe(failed?.curl?.length);
  const blocks = out.split(/\n\n/).find((block) => block.startsWith("FAILED")) ?? "";
  expect((blocks.match(/curl -sS/g) ?? []).length).toBeLessThan(failed?.exchanges?.length ?? 0);
  expect(readFileSync(html ?? "", "utf8")).toMatch(/200 \(\d+ times in/);
});
