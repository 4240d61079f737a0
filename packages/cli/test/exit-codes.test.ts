import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exitCodes, Interruption } from "../src/exit-codes.js";
import { refusal, startFakeService } from "./harness/fake-service.js";
import { me, waiting } from "./harness/resources.js";
import { createRunner } from "./harness/run.js";

const failed = {
  ...waiting,
  state: "failed",
  approval: null,
  failure: { code: "INSUFFICIENT_FUNDS", message: "Too little." },
};

describe("exit codes", () => {
  let service: Awaited<ReturnType<typeof startFakeService>>;
  let cli: ReturnType<typeof createRunner>;
  beforeAll(async () => {
    service = await startFakeService({
      "GET /v1/me": { body: me },
      "GET /v1/policy": refusal(403, "INSUFFICIENT_SCOPE"),
      "GET /v1/audit": refusal(503, "UNAVAILABLE"),
      "POST /v1/transactions": ({ body }) =>
        body.includes("cut")
          ? "cut"
          : body.includes("refused")
            ? refusal(403, "POLICY_REJECTED", "No \u001b[31msuch\u202e payment.")
            : { status: 202, body: failed },
      [`GET /v1/transactions/${waiting.id}`]: { body: failed },
      "GET /v1/transactions/tx_cut": "cut",
    });
    cli = createRunner(service.url);
  });
  afterAll(() => service.close());

  const pay = ["tx", "create", "1", "USD", "--reference"];
  it.each([
    ["done", ["me"], ""],
    [
      "refused",
      [...pay, "refused", "--idempotency-key", "k-0"],
      "bursar: POLICY_REJECTED: No \\u{1b}[31msuch\\u{202e} payment. (req_2)\n",
    ],
    [
      "usage",
      ["frobnicate"],
      'bursar: There is no command "frobnicate". `bursar help` lists the commands.\n',
    ],
    ["usage", ["tx", "creat"], 'bursar: There is no command "tx creat". Did you mean `bursar tx create`?\n'],
    [
      "usage",
      ["wallet", "frobnicate"],
      'bursar: There is no command "wallet frobnicate". `bursar wallet` lists the commands.\n',
    ],
    [
      "usage",
      ["wallet", "adopt"],
      'bursar: There is no command "wallet adopt". It is a command of the operator: run it where the server is installed.\n',
    ],
    [
      "usage",
      ["help", "frobnicate"],
      'bursar: There is no command "frobnicate". `bursar help` lists the commands.\n',
    ],
    ["usage", ["tx", "create", "1"], "bursar: bursar tx create needs <asset>.\n"],
    ["usage", [...pay.slice(0, 4)], "bursar: --reference is missing.\n"],
    ["usage", [...pay, "a", "--reference", "b"], "bursar: --reference is given twice.\n"],
    ["usage", ["tx", "list", "--limit", "5", "--all"], "bursar: --limit and --all exclude each other.\n"],
    [
      "usage",
      ["tx", "list", "--limit", "-1"],
      /^bursar: [^\\]* A value that begins with a hyphen is written as --option=-value\.\n$/,
    ],
    ["usage", ["tx", "list", "--limit=-1"], /^bursar: --limit must be a whole number from 1 to \d+\.\n$/],
    ["usage", ["non\u001b[31msense"], /^bursar: There is no command "non\\u\{1b\}\[31msense"\./],
    ["usage", ["api", "POST", "/v1/x", "--data", "not\njson"], /^bursar: --data [^\\]*\n$/],
    ["usage", ["me", "--nonsense"], "bursar: Unknown option '--nonsense'.\n"],
    ["usage", ["tx", "get"], "bursar: bursar tx get needs <transaction>.\n"],
    ["usage", ["tx", "get", "a", "b"], 'bursar: bursar tx get takes no argument "b".\n'],
    ["usage", ["tx", "list", "--state", "lost"], /^bursar: --state must be one of accepted, .*\n$/],
    [
      "usage",
      ["me", "--profile", "nobody"],
      /^bursar: There is no profile nobody in .*\. The profiles are sandbox\.\n$/,
    ],
    [
      "usage",
      ["me", "--client", "nobody"],
      "bursar: The sandbox has no client nobody. Its clients are sandbox, approver.\n",
    ],
    ["usage", ["me", "--url", "https://pay.example"], /^bursar: The client is missing: .*\n$/],
    [
      "unknown",
      [...pay, "cut", "--idempotency-key", "k-1"],
      /^bursar: CONNECTION_FAILED: .* repeat the command with --idempotency-key k-1\. This is the sandbox: is `npm start` running\?\n$/,
    ],
    ["unauthorized", ["policy", "get"], "bursar: INSUFFICIENT_SCOPE: It is INSUFFICIENT_SCOPE. (req_2)\n"],
    ["unavailable", ["audit"], "bursar: UNAVAILABLE: It is UNAVAILABLE. (req_2)\n"],
    ["ended", [...pay, "x", "--wait"], /idempotency key is/],
    ["ended", ["tx", "watch", waiting.id], ""],
  ] as const)("%s: %j", async (name, args, said) => {
    const { code, err } = await cli.run([...args]);
    expect({ code, err }).toEqual({
      code: exitCodes[name].code,
      err: typeof said === "string" ? said : expect.stringMatching(said),
    });
  });

  it("a service that does not listen is unavailable, and nothing was sent", async () => {
    const closed = await startFakeService({});
    await closed.close();
    const nowhere = createRunner(closed.url);
    const { code, err } = await nowhere.run([...pay, "x"]);
    expect(code).toBe(exitCodes.unavailable.code);
    expect(err).toBe(
      `bursar: CONNECTION_FAILED: No connection to ${closed.url} could be made (ECONNREFUSED). This is the sandbox: is \`npm start\` running?\n`,
    );
  });

  it.each([
    [["events", "tail"]],
    [["tx", "watch"]],
    [["orderbook", "--watch"]],
    [["trades", "ETH-USD", "--watch"]],
    [["webhooks", "listen", "--follow"]],
    [["me"]],
  ])("%j is interrupted with 130", async (args) => {
    const ran = await cli.run(args, { signal: AbortSignal.abort(new Interruption("interrupted")) });
    expect(ran).toMatchObject({ code: exitCodes.interrupted.code, out: "" });
  });

  it("a failed read before a change leaves nothing unknown", async () => {
    const { code, err } = await cli.run(["policy", "put", "-"], { input: "{}" });
    expect({ code, err }).toEqual({ code: exitCodes.unauthorized.code, err: expect.any(String) });
    const cut = await cli.run(["tx", "approve", "tx_cut"]);
    expect(cut).toMatchObject({ code: exitCodes.unavailable.code });
  });

  it("`bursar help exit-codes` prints them, and nothing else", async () => {
    const { code, out } = await cli.run(["help", "exit-codes"]);
    expect([code, out.trimEnd().split("\n").length]).toEqual([0, 1 + Object.keys(exitCodes).length]);
  });

  it("the README has all of them", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    for (const { code, means } of Object.values(exitCodes))
      expect(readme).toContain(`| ${code} | ${means} |`);
  });
});
