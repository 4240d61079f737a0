import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFakeService } from "./harness/fake-service.js";
import { me, waiting, wallet } from "./harness/resources.js";
import { createRunner } from "./harness/run.js";

const hostile = "\u001b[2J\u001b]0;title\u0007\u202edlrow\u009b1m\nsecond line\u{e0041}";
/** Whether a string has a character that a terminal obeys; tabs and line feeds are our own. */
const isObeyed = (text: string) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text.replaceAll(/[\t\n]/g, ""));

const approved = {
  ...{ ...waiting, id: "tx_2" },
  approval: {
    ...{ ...waiting.approval, required: 1, approved: 1 },
    decisions: [{ client_id: "cli_7", decision: "approve", comment: null }],
  },
};

describe("output", () => {
  let service: Awaited<ReturnType<typeof startFakeService>>;
  let cli: ReturnType<typeof createRunner>;
  beforeAll(async () => {
    service = await startFakeService({
      "GET /v1/wallets": (request) => ({
        body: {
          data: request.path.includes("purpose=fees")
            ? []
            : [
                wallet(),
                wallet({
                  id: "wlt_2",
                  name: request.path.includes("payout") ? hostile : "旅費",
                  frozen: true,
                }),
              ],
          next_cursor: null,
        },
      }),
      "GET /v1/transactions/tx_1": { body: { ...waiting, reference: hostile } },
      "GET /v1/transactions/tx_2": { body: approved },
      "GET /v1/transactions/tx_2/approvals/tally": {
        body: { counted: 0, required: 2, decisions: [{ client_id: "cli_7", reason: "client_disabled" }] },
      },
      "GET /v1/transactions/tx_3": { body: { ...approved, state: "completed" } },
      "GET /v1/me": { body: me },
      "GET /v1/orderbook": {
        body: {
          market: "ETH-USD",
          sequence: 7,
          bids: [
            ["99", "2"],
            ["98", "1"],
          ],
          asks: [
            ["101", "1"],
            ["102", "4"],
          ],
        },
      },
    });
    cli = createRunner(service.url);
  });
  afterAll(() => service.close());

  it("in a pipe, each item is a line with tabs", async () => {
    const { out, err, code } = await cli.run(["wallet", "list"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toBe(
      [
        "wlt_01hw000000e008000000000001\tprimary\ttreasury\tbook\tactive\tno\t874.5 USD",
        "wlt_2\t旅費\ttreasury\tbook\tactive\tyes\t874.5 USD",
        "",
      ].join("\n"),
    );
  });

  it("on a terminal, a list is a table that fits", async () => {
    const { out } = await cli.run(["wallet", "list"], { terminal: true, env: { NO_COLOR: "1" }, width: 60 });
    expect(out).toBe(
      [
        "ID                              NAME     PURPOSE   NETWORK  STATE   FROZEN  BALANCES",
        "wlt_01hw000000e008000000000001  primary  treasury  book     active  no      874.5 USD",
        "wlt_2                           旅費     treasury  book     active  yes     874.5 USD",
        "",
      ].join("\n"),
    );
    const coloured = await cli.run(["wallet", "list"], { terminal: true });
    expect(coloured.out).toContain("\u001b[32mactive\u001b[39m");
    const none = await cli.run(["wallet", "list", "--purpose", "fees"], {
      terminal: true,
      env: { NO_COLOR: "1" },
    });
    expect(none.out).toBe("none\n");
  });

  it("--json is one document, --jsonl one line for each item", async () => {
    const json = await cli.run(["wallet", "list", "--json"], { terminal: true });
    expect(JSON.parse(json.out)).toHaveLength(2);
    const jsonl = await cli.run(["wallet", "list", "--jsonl", "--limit", "1"]);
    expect(jsonl.out.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(jsonl.out)).toMatchObject({ name: "primary", balances: [{ available: "874.5" }] });
    expect((await cli.run(["wallet", "list", "--json", "--jsonl"])).code).toBe(2);
  });

  it("one resource has a line for each field", async () => {
    const { out } = await cli.run(["me"]);
    expect(out).toContain("tenant\tid tnt_01hw000000e008000000000001  name acme  single_administrator no\n");
    const shown = await cli.run(["me"], { terminal: true, env: { NO_COLOR: "1" } });
    expect(shown.out).toMatch(/^client {2}id cli_1 {2}name officer/m);
  });

  it("the approvals of a transaction are those that count, if that is known, and JSON is the answer", async () => {
    const { out } = await cli.run(["tx", "get", "tx_2"]);
    expect(out).toMatch(/^approval\trecorded 1 {2}counted 0 {2}required 2 {2}state pending /m);
    expect(out).toMatch(/client_id cli_7 {2}decision approve {2}does_not_count client_disabled/);
    expect(out).not.toContain("approved 1");
    expect((await cli.run(["tx", "get", "tx_3"])).out).toMatch(
      /^approval\trecorded 1 {2}required 1 {2}state /m,
    );
    expect(JSON.parse((await cli.run(["tx", "get", "tx_2", "--json"])).out)).toEqual(approved);
  });

  it.each([
    ["a pipe", [], {}],
    ["a terminal", [], { terminal: true, env: { NO_COLOR: "1" } }],
    ["JSON", ["--json"], {}],
    ["JSON lines", ["--jsonl"], { terminal: true }],
  ])("hostile names do not reach %s raw", async (_what, options, where) => {
    const listed = await cli.run(["wallet", "list", "--purpose", "payout", ...options], where);
    const shown = await cli.run(["tx", "get", "tx_1", ...options], where);
    for (const { out } of [listed, shown]) expect(isObeyed(out)).toBe(false);
    expect(shown.out).toMatch(/\\u\{202e\}|\\u202e/);
    expect(listed.out).toMatch(/\\u\{1b\}|\\u001b/);
    if (options.length > 0) {
      const [first = ""] = options[0] === "--json" ? [listed.out] : listed.out.split("\n").slice(1);
      const read = JSON.parse(first) as { name: string } | { name: string }[];
      expect((Array.isArray(read) ? read[1] : read)?.name).toBe(hostile);
    }
  });

  it("an order book has asks above bids", async () => {
    const piped = await cli.run(["orderbook", "ETH-USD"]);
    expect(piped.out).toBe("ask\t102\t4\nask\t101\t1\nbid\t99\t2\nbid\t98\t1\n");
    const { out } = await cli.run(["orderbook"], { terminal: true, env: { NO_COLOR: "1" } });
    expect(out).toBe(
      [
        "ETH-USD #7",
        "price  size",
        "  102     4  ████████████████████████",
        "  101     1  ██████",
        "───────────",
        "   99     2  ████████████",
        "   98     1  ██████",
        "",
      ].join("\n"),
    );
  });

  it("--verbose shows each request on the error stream, and never a secret", async () => {
    const { out, err } = await cli.run(["me", "--verbose", "--json"]);
    expect(err).toMatch(/> GET http:\S+\/v1\/me\n< 200 in \d+ ms req_1\n/);
    expect(out + err).not.toContain("bsk_");
  });
});
