import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type SeenRequest, startFakeService } from "./harness/fake-service.js";
import { createStarter, hasTerminal } from "./harness/process.js";
import { waiting, wallet } from "./harness/resources.js";

const pay = ["tx", "create", "1", "USD", "--reference", "int1", "--yes"];

/** These run the program as it is built, because signals and streams belong to a process. */
describe("a command that is interrupted", () => {
  let service: Awaited<ReturnType<typeof startFakeService>>;
  let bursar: ReturnType<typeof createStarter>;
  let arrived: (request: SeenRequest) => void = () => {};
  beforeAll(async () => {
    const silently = (request: SeenRequest) => {
      arrived(request);
      return "silence" as const;
    };
    service = await startFakeService({
      "GET /v1/me": silently,
      "POST /v1/transactions": (request) =>
        request.body.includes("slow")
          ? { status: 202, body: { ...waiting, state: "accepted", approval: null } }
          : silently(request),
      [`GET /v1/transactions/${waiting.id}`]: silently,
      "POST /v1/transactions/tx_1/cancel": silently,
      "GET /v1/wallets": {
        body: {
          data: Array.from({ length: 400 }, (_, at) => wallet({ id: `wlt_${at}` })),
          next_cursor: null,
        },
      },
      "POST /v1/clients": { status: 201, body: { id: "cli_2", client_secret: "bsk_shown-once" } },
    });
    bursar = createStarter(service.url);
  });
  afterAll(() => service.close());
  const nextRequest = () =>
    new Promise<SeenRequest>((resolve) => {
      arrived = resolve;
    });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "by %s during a payment ends at once, and says how to learn the outcome",
    async (signal, code) => {
      const request = nextRequest();
      const running = bursar.start(pay);
      const { headers } = await request;
      const key = headers["idempotency-key"];
      // The key is known before the answer comes.
      expect(running.err()).toBe(`The idempotency key is ${key}.\n`);
      running.child.kill(signal);
      expect(await running.exited).toBe(code);
      expect(running.err()).toBe(
        `The idempotency key is ${key}.\nbursar: Interrupted while POST /v1/transactions was under way. It may have taken effect: repeat the command with --idempotency-key ${key}.\n`,
      );
    },
  );

  it("while it waits for the end of a payment says which payment", async () => {
    const request = nextRequest();
    const running = bursar.start(["tx", "create", "1", "USD", "--reference", "slow", "--wait"]);
    await request;
    running.child.kill("SIGINT");
    expect(await running.exited).toBe(130);
    expect(running.err()).toContain(`\n${waiting.id} was created; \`bursar tx watch ${waiting.id}\` shows`);
    expect(running.err()).toMatch(/\nbursar: Interrupted\.\n$/);
  });

  it("during a change without a key says that the outcome is unknown, and during a read nothing", async () => {
    const cancelled = nextRequest();
    const cancelling = bursar.start(["tx", "cancel", "tx_1"]);
    await cancelled;
    cancelling.child.kill("SIGINT");
    expect(await cancelling.exited).toBe(130);
    expect(cancelling.err()).toMatch(/It may have taken effect: look before you repeat the command\.\n$/);
    const read = nextRequest();
    const reading = bursar.start(["me"]);
    await read;
    reading.child.kill("SIGINT");
    expect([await reading.exited, reading.out(), reading.err()]).toEqual([130, "", ""]);
  });

  it.runIf(hasTerminal)("at a prompt by Ctrl-C ends with 130, and nothing is sent", async () => {
    const question = bursar.terminal(pay.slice(0, -1));
    await question.shows(/Send 1 USD .* \[y\/N\] /);
    question.type("\u0003");
    expect(await question.exited).toBe(130);
    expect(question.out()).toMatch(/\[y\/N\] .*\r\nbursar: Interrupted\. Nothing was changed\.\r\n$/);
    const secret = bursar.terminal(["profile", "add", "acme", service.url, "cli_1"]);
    await secret.shows(/Secret of cli_1: /);
    secret.type("bsk_\u0003");
    expect(await secret.exited).toBe(130);
    expect(secret.out()).not.toContain("bsk_");
    expect(secret.out()).not.toContain("    at ");
  });

  it.runIf(process.platform === "linux")("by a full disk fails with 7, never with 0", async () => {
    for (const command of [
      "$bursar wallet list --all > /dev/full",
      "$bursar clients create shop --scope transactions:read > /dev/full",
      "$bursar --version > /dev/full",
    ]) {
      const running = bursar.shell(command);
      expect([command, await running.exited]).toEqual([command, 7]);
      expect(running.err()).toMatch(/bursar: The output could not be written: ENOSPC.*\.\n$/);
      expect(running.err()).not.toContain("    at ");
    }
    expect(await bursar.shell("$bursar clients create shop --scope x 2> /dev/full").exited).toBe(7);
  });

  it.each(["", "--json"])("by a reader that ends fails with 141 (%s)", async (option) => {
    const line = `$bursar wallet list --all ${option} | head -1 > /dev/null; exit \${PIPESTATUS[0]}`;
    const running = bursar.shell(line);
    expect([await running.exited, running.err()]).toEqual([141, ""]);
  });
});
