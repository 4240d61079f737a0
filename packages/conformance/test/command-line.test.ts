import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { main } from "../src/cli/main-command.js";
import { transactionsMax } from "../src/cli/run-command.js";
import type { Report } from "../src/report/report.js";
import type { FaultName } from "./faults.js";
import { plainTokens, startPlainServer } from "./servers/plain/plain-server.js";

const folder = mkdtempSync(join(tmpdir(), "bursar-conformance-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const targetFile = join(folder, "plain.yaml");
writeFileSync(
  targetFile,
  `
token_env: PLAIN_TOKEN
revoked_token_env: PLAIN_REVOKED
transaction: { asset: USD, amount: "1.01" }
exact: { asset: ETH, amount: "0.010000000000000001" }
refused_by_policy: { amount: "5000" }
wallet: { body: { name: "{run}" }, final_states: [active] }
final_states: [completed, failed]
webhooks:
  register: { path: /v1/webhook-endpoints, body: { url: "{url}" } }
  secret: body.secret
  remove: { method: DELETE, path: "/v1/webhook-endpoints/{id}" }
  signature: { scheme: standard-webhooks }
timing: { poll_ms: 5, result_ms: 3000, webhook_ms: 3000, retry_ms: 3000, quiet_ms: 60, key_ms: 20, request_ms: 5000 }
`,
);
const byHandFile = join(folder, "by-hand.yaml");
writeFileSync(byHandFile, "webhooks: { signature: { scheme: standard-webhooks } }");
const environment = { PLAIN_TOKEN: plainTokens.own, PLAIN_REVOKED: plainTokens.revoked };

interface Ran {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

async function run(args: readonly string[], input = "", signal = new AbortController().signal): Promise<Ran> {
  let out = "";
  let err = "";
  const console = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    input: Readable.from([input]),
    environment,
    signal,
  };
  return { status: await main(args, console), out, err };
}

async function runAgainst(faults: readonly FaultName[], args: readonly string[] = []): Promise<Ran> {
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
    `conforms to contract 0.1.0: ${passed} of ${passed}, 1 only with --slow; declared: `,
  );
  expect(passed + slow).toBe(total);
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
  const sent = log.entries.filter(({ request }) => request.postData?.text.includes('"1.01"'));
  expect(sent.length).toBeLessThanOrEqual(5);
});

it("known failures of a baseline do not count, and compare lists what has changed", async () => {
  const [good, bad] = [join(folder, "a.json"), join(folder, "b.json")];
  await runAgainst([], ["--json", good]);
  await runAgainst(["lower-case-code"], ["--json", bad]);
  const again = await runAgainst(["lower-case-code"], ["--baseline", bad]);
  expect(again.status).toBe(0);
  expect(again.out).toContain("FAILED error.code.form (known)");
  expect((await runAgainst(["unsigned"], ["--baseline", bad])).status).toBe(1);
  const compared = await run(["compare", good, bad]);
  expect(compared.status).toBe(1);
  expect(compared.out).toMatch(/error\.code\.form +passed -> failed/);
  expect(await run(["compare", good, good])).toMatchObject({ status: 0 });
});

it("--only runs the checks that were asked for and those that they need", async () => {
  const file = join(folder, "only.json");
  const { status, out } = await runAgainst([], ["--only", "key.race", "--json", file]);
  expect(status).toBe(0);
  expect(out).toContain("selected checks of contract 0.1.0");
  const ids = readReport(file).checks.map(({ id }) => id);
  expect(ids).toContain("key.race");
  expect(ids).toContain("tx.create.accepted");
  expect(ids).not.toContain("webhook.sent");
});

it.each([
  [["--base-url", "http://127.0.0.1:1", "--token", "t"], "cannot be reached"],
  [["--base-url", "ftp://x", "--token", "t"], "is not an http or https address"],
  [["--base-url", "http://127.0.0.1:1"], "Credentials are missing"],
  [["--token", "t"], "The address is missing"],
  [["--base-url", "http://pay.example", "--token", "t"], "Pass --allow-writes and --max-total USD=AMOUNT."],
  [["--base-url", "http://pay.example", "--token", "t", "--allow-writes"], "--max-total USD=AMOUNT"],
  [["--base-url", "http://127.0.0.1:1", "--token", "t", "--max-total", "USD"], "must be ASSET=AMOUNT"],
  [["--bogus"], "--bogus"],
  [["--only", "nothing"], "No check is named nothing"],
  [["--target", "/nowhere.yaml"], "cannot be read"],
  [["--base-url", "http://127.0.0.1:1", "--token", "t", "--target", byHandFile], "Pass --webhook-listen"],
  [["frobnicate"], "is not a command"],
])("%j ends with status 2 and one sentence", async (args, sentence) => {
  const { status, out, err } = await run(args);
  expect({ status, out }).toEqual({ status: 2, out: "" });
  expect(err).toContain(sentence);
  expect(err.trimEnd().split("\n")).toHaveLength(1);
});

it("a faulty target file is refused with the member at fault", async () => {
  const file = join(folder, "faulty.yaml");
  const faulty: [string, string][] = [
    ["transaction: { asset: USD, amount: 1.5 }", "transaction.amount must be a string"],
    ["webhook: {}", "webhook is not known"],
    ["final_states: done", "final_states must be a list of names"],
    ["exact: { asset: X, amount: '1.5' }", "at least 17 significant digits"],
    ["token_env: NOT_SET", "NOT_SET is not set"],
    ["a: [", "not valid YAML"],
  ];
  for (const [text, sentence] of faulty) {
    writeFileSync(file, text);
    const { status, err } = await run(["--base-url", "http://127.0.0.1:1", "--token", "t", "--target", file]);
    expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining(sentence) });
  }
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

it("init writes a target file and does not replace one", async () => {
  const file = join(folder, "new.yaml");
  const { status } = await run(
    ["init", file],
    "http://127.0.0.1:9\nPLAIN_TOKEN\nEUR\n2.50\n\ndone, lost\n/hooks\n",
  );
  expect(status).toBe(0);
  const text = readFileSync(file, "utf8");
  expect(text).toContain('amount: "2.50"');
  expect(text).toContain("- lost");
  expect((await run(["init", file])).status).toBe(2);
  expect(existsSync(file)).toBe(true);
});

it("an interrupted run ends with a report and removes its webhook endpoint", async () => {
  const server = await startPlainServer(["no-webhook"]);
  const interrupt = new AbortController();
  const running = run(["--base-url", server.url, "--target", targetFile], "", interrupt.signal);
  while (server.endpointCount() === 0) await delay(5);
  interrupt.abort();
  const { status, out } = await running;
  const left = server.endpointCount();
  await server.stop();
  expect({ status, left }).toEqual({ status: 1, left: 0 });
  expect(out).toContain("The run was interrupted.");
});
