import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { exitCodes } from "../src/exit-codes.js";
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
    });
    cli = createRunner(service.url);
  });
  afterAll(() => service.close());

  const pay = ["tx", "create", "1", "USD", "--reference"];
  it.each([
    ["done", ["me"], ""],
    [
      "refused",
      [...pay, "refused"],
      "bursar: POLICY_REJECTED: No \\u{1b}[31msuch\\u{202e} payment. (req_2)\n",
    ],
    [
      "usage",
      ["frobnicate"],
      'bursar: There is no command "frobnicate". `bursar help` lists the commands.\n',
    ],
    ["usage", ["tx", "creat"], 'bursar: There is no command "tx creat". Did you mean `bursar tx create`?\n'],
    ["usage", [...pay.slice(0, 4)], "bursar: --reference is missing.\n"],
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
      /^bursar: CONNECTION_FAILED: .* repeat the command with --idempotency-key k-1\.\n$/,
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
      `bursar: CONNECTION_FAILED: No connection to ${closed.url} could be made (ECONNREFUSED).\n`,
    );
  });

  it("an interrupted command says so", async () => {
    const { code } = await cli.run(["events", "tail"], { signal: AbortSignal.abort() });
    expect([0, exitCodes.interrupted.code]).toContain(code);
  });

  it("the README has all of them", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    for (const { code, means } of Object.values(exitCodes))
      expect(readme).toContain(`| ${code} | ${means} |`);
  });
});
