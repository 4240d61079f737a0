import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { readTarget } from "../src/target/read-target.js";
import { environment, run } from "./run-command-line.js";

/** What is wrong with a command line or a target file is said in one sentence, before anything is sent. */

const folder = mkdtempSync(join(tmpdir(), "bursar-conformance-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const unreachable = ["--base-url", "http://127.0.0.1:1", "--token", "t"];
const byHandFile = join(folder, "by-hand.yaml");
writeFileSync(byHandFile, "webhooks: { signature: { scheme: standard-webhooks } }");
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
  [[...unreachable, "--html", join(folder, "missing", "report.html")], "there is no folder"],
  [[...unreachable, "--json", folder], "it is a folder"],
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
    [
      "webhooks: { signature: { scheme: hmac, algorithm: sha1024 } }",
      "webhooks.signature.algorithm is sha1024, which is not a known hash",
    ],
    [
      "webhooks: { signature: { scheme: hmac, encoding: base32 } }",
      "webhooks.signature.encoding is base32, but must be hex or base64",
    ],
    [
      'webhooks: { register: { path: /hooks, body: { to: "{uri}" } } }',
      "webhooks.register contains {uri}, which is not known. Known here: {run}, {url}.",
    ],
    [
      'webhooks: { remove: { path: "/hooks/{hook}" } }',
      "webhooks.remove contains {hook}, which is not known. Known here: {run}, {id}, {url}.",
    ],
    [
      'webhooks: { signature: { scheme: hmac, content: "{timestamp}.{body}" } }',
      "webhooks.signature.content contains {timestamp}",
    ],
    ['wallet: { body: { name: "{name}" } }', "wallet.body contains {name}"],
    ["revoked_token_env: SAME_TOKEN", "revoked_token_env has the same token as the run"],
    ["webhooks: { event: kind }", 'webhooks.event must begin with "body." or "header."'],
    ["webhooks: { register: { path: hooks } }", 'webhooks.register.path must begin with "/"'],
  ];
  for (const [text, sentence] of faulty) {
    writeFileSync(file, text);
    const args = ["--base-url", "http://127.0.0.1:1", "--token", "t", "--target", file];
    const { status, err } = await run(args, { variables: { SAME_TOKEN: "t" } });
    expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining(sentence) });
  }
});

it("a misspelt member is named before what is missing without it", async () => {
  const file = join(folder, "misspelt.yaml");
  writeFileSync(file, "bse_url: http://127.0.0.1:1\n");
  const { status, err } = await run(["--target", file]);
  expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining("bse_url is not known") });
});

it("init writes a target file and does not replace one", async () => {
  const file = join(folder, "new.yaml");
  const { status } = await run(["init", file], {
    input: [
      ...["http://127.0.0.1:9", "PLAIN_TOKEN", "EUR", "2.50", "", "done, lost", "data.phase", "purpose=a=b"],
      ...["source=empty", "ETH=0.010000000000000001", "PLAIN_SECOND", "PLAIN_REVOKED", "20000"],
      ...[
        "/hooks",
        "target",
        "body.secret",
        "/hooks/{id}",
        "data.state",
        "hmac",
        "X-Sig",
        "sha512",
        "{header:X-Time}.{body}",
        "",
      ],
    ].join("\n"),
  });
  expect(status).toBe(0);
  const variables = { ...environment, PLAIN_SECOND: "second" };
  const target = readTarget(readFileSync(file, "utf8"), {}, variables);
  expect(target).toMatchObject({
    fails: { source: "empty" },
    exact: { asset: "ETH", amount: "0.010000000000000001" },
    secondTenant: { token: "second" },
    revokedToken: environment.PLAIN_REVOKED,
    timing: { resultMs: 20_000 },
    transaction: { asset: "EUR", amount: "2.50" },
    finalStates: ["done", "lost"],
    shown: { state: "data.phase" },
    refusedByPolicy: { purpose: "a=b" },
    webhooks: {
      register: { path: "/hooks", body: { target: "{url}" } },
      secretAt: "body.secret",
      remove: { method: "DELETE", path: "/hooks/{id}" },
      state: "data.state",
      signature: { at: "header.X-Sig", algorithm: "sha512", content: "{header:X-Time}.{body}" },
    },
  });
  expect((await run(["init", file])).status).toBe(2);
  expect(existsSync(file)).toBe(true);
});

it("Ctrl-C ends init, and nothing is written", async () => {
  const file = join(folder, "interrupted.yaml");
  const signal = AbortSignal.timeout(50);
  const { status, err } = await run(["init", file], { signal, isInputOpen: true });
  expect({ status, isWritten: existsSync(file) }).toEqual({ status: 2, isWritten: false });
  expect(err).toContain("nothing was written");
});

it("init writes a command that verifies signatures", async () => {
  const file = join(folder, "command.yaml");
  const before = "\n".repeat(13);
  const { status } = await run(["init", file], {
    input: `${before}/hooks\n\n\n\n\ncommand\nnode verify.mjs --strict\n`,
  });
  expect(status).toBe(0);
  const { webhooks } = readTarget(readFileSync(file, "utf8"), { token: "t" }, { CONFORMANCE_TOKEN: "t" });
  expect(webhooks?.signature).toEqual({ scheme: "command", command: ["node", "verify.mjs", "--strict"] });
});

it.each([
  ["x\n", "x is not an http or https address"],
  ["http://127.0.0.1:9\nmy token\n", "my token is not the name of an environment variable"],
  ["\n\n\none\n", "one is not a decimal number"],
  ["\n\n\n\nid\n", 'id does not begin with "body." or "header."'],
  ["\n\n\n\n\n\n\nmuch\n", "much is not a member and a value"],
  ["\n\n\n\n\n\n\n\n\nETH\n", "ETH is not an asset and an amount"],
  ["\n\n\n\n\n\n\n\n\n\nmy token\n", "my token is not the name of an environment variable"],
  ["\n\n\n\n\n\n\n\n\n\n\n\nsoon\n", "soon is not a number of milliseconds"],
  ["\n\n\n\n\n\n\n\n\n\n\n\n\nhooks\n", "hooks is not a path"],
  ["\n\n\n\n\n\n\n\n\n\n\n\n\n/hooks\n\n\n\n\nmd5\n", "md5 is none of standard-webhooks, hmac, command"],
  ["\n\n\n\n\n\n\n\n\n\n\n\n\n/hooks\n\n\n\n\nhmac\n\nsha1024\n\n", "sha1024, which is not a known hash"],
  ["http://127.0.0.1:9\n", "The input ended before the last question"],
])("init refuses the answers %j, and writes nothing", async (input, sentence) => {
  const file = join(folder, "refused.yaml");
  const { status, err } = await run(["init", file], { input });
  expect({ status, err }).toEqual({ status: 2, err: expect.stringContaining(sentence) });
  expect(existsSync(file)).toBe(false);
});

it("init asks again at a terminal if an answer is wrong", async () => {
  const file = join(folder, "asked-again.yaml");
  const input = `x\nhttp://127.0.0.1:9${"\n".repeat(14)}`;
  const { status, err } = await run(["init", file], { input, isAtTerminal: true });
  expect(status).toBe(0);
  expect(err.match(/Address of the service/g)).toHaveLength(2);
  expect(readFileSync(file, "utf8")).toContain("base_url: http://127.0.0.1:9\n");
});
