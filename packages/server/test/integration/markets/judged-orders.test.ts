import type { PolicyDocument } from "@bursar/domain";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, findViolations, type Trader, tradingAs } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { storePolicy } from "../../harness/transactions/store-policy.js";

const allow = { action: "allow" } as const;
const buy = (price: string, size: string, more: object = {}) => ({ side: "buy", price, size, ...more });
const dailyLimit = (above: string, asset = "USD"): PolicyDocument["rules"][number] => ({
  name: "daily",
  when: { sum: { asset, per: "tenant", period_seconds: 86_400, above } },
  action: "reject",
  reason: "The daily limit is exhausted.",
});

describe("an order under a policy", () => {
  let service: TestService;
  let trader: Trader;
  beforeAll(async () => {
    service = await startTestService();
  });
  beforeEach(async () => {
    trader = await createTrader(service, { USD: "100000", ETH: "100" }, { allowsOrders: false });
  });
  afterAll(async () => {
    expect(await findViolations(service)).toEqual([]);
    await service.stop();
  });

  /** Written directly to the database, so that it is in force before the tenant's first request. */
  const usePolicy = (rules: PolicyDocument["rules"]) =>
    storePolicy(
      service.database,
      { tenantId: tenantId(), clientId: trader.owner.client.id },
      { rules, default: allow },
    );
  const tenantId = () => readId("tnt", trader.owner.tenantId) ?? "";
  const outcome = async (body: object) => {
    const { state, failure } = await trader.placed(body);
    return [state, failure?.code ?? null];
  };

  it("is refused synchronously if the rule needs no sums: nothing is created and the key stays unused", async () => {
    await usePolicy([
      {
        name: "large",
        when: { amount: { asset: "USD", min: "50.01" } },
        action: "reject",
        reason: "Too large.",
      },
    ]);
    const refused = await trader.place(buy("10", "6"), "the-key");
    expect([refused.status, refused.body.error]).toMatchObject([
      403,
      { code: "POLICY_REJECTED", message: "Too large.", details: [{ path: "policy.large" }] },
    ]);
    expect((await trader.place(buy("10", "5"), "the-key")).status).toBe(202);
  });

  it("that would exceed a limit is rejected, names the rule and holds nothing", async () => {
    await usePolicy([dailyLimit("100.00")]);
    expect(await trader.placed(buy("10", "6"))).toMatchObject({ state: "open", policy_version: 1 });
    const rejected = await trader.placed(buy("10", "4.01"));
    expect(rejected).toMatchObject({
      state: "rejected",
      version: 2,
      policy_version: 1,
      failure: { code: "POLICY_REJECTED", message: "The daily limit is exhausted.", rule: "daily" },
    });
    expect(await trader.balances()).toMatchObject({ USD: ["99940", "60"] });
    expect(await outcome(buy("10", "4"))).toEqual(["open", null]);
    expect(await outcome({ side: "buy", type: "market", quote_size: "0.01" })).toEqual([
      "rejected",
      "POLICY_REJECTED",
    ]);
    const { data } = (await trader.send("GET", "/v1/events")).body as unknown as {
      data: { data: { order: object } }[];
    };
    expect(data[1]?.data.order).toEqual(rejected);
  });

  it("counts its hold, together with transactions: quote for a buy, base for a sell", async () => {
    await usePolicy([dailyLimit("100.00"), { ...dailyLimit("5", "ETH"), name: "daily-base" }]);
    const pay = async (amount: string) => {
      const { body } = await trader.send(
        "POST",
        "/v1/transactions",
        { reference: "r", asset: "USD", amount },
        { "idempotency-key": `pay-${amount}` },
      );
      const settled = await eventually(
        () => trader.send("GET", `/v1/transactions/${body.id}`),
        ({ body: { state } }) => (state as string) !== "accepted",
      );
      return settled.body.state as string;
    };
    expect(await pay("30")).toBe("completed");
    expect(await outcome(buy("10", "7.01"))).toEqual(["rejected", "POLICY_REJECTED"]);
    expect(await outcome(buy("10", "7"))).toEqual(["open", null]);
    expect(await pay("0.01")).toBe("rejected");
    expect(await outcome({ side: "sell", price: "9000", size: "5" })).toEqual(["open", null]);
    expect(await outcome({ side: "sell", price: "9000", size: "0.01" })).toEqual([
      "rejected",
      "POLICY_REJECTED",
    ]);
  });

  it("that was admitted still counts when it is cancelled; one with insufficient funds never counts", async () => {
    await usePolicy([dailyLimit("200000.00")]);
    expect(await outcome(buy("10", "10000.01"))).toEqual(["rejected", "INSUFFICIENT_FUNDS"]);
    const { id } = await trader.placed(buy("10", "10000"));
    await trader.send("DELETE", `/v1/orders/${id}`);
    await trader.until(id, ({ state }) => state === "cancelled");
    expect(await outcome(buy("10", "10000"))).toEqual(["open", null]);
    expect(await outcome(buy("10", "0.01"))).toEqual(["rejected", "POLICY_REJECTED"]);
  });

  it("cannot wait for approval: a rule that requires approval rejects it, synchronously or once sums are known", async () => {
    const approval = { action: "require_approval", approvals: 1 } as const;
    await usePolicy([
      { name: "ask-large", when: { amount: { asset: "USD", min: "1000.00" } }, ...approval },
      { name: "ask-often", when: dailyLimit("100.00").when, ...approval },
    ]);
    const refused = await trader.place(buy("10", "100"));
    expect([refused.status, refused.body.error]).toMatchObject([
      403,
      { code: "POLICY_REJECTED", details: [{ path: "policy.ask-large" }] },
    ]);
    expect(refused.body.error?.message).toContain("cannot wait for");
    expect(await outcome(buy("10", "10"))).toEqual(["open", null]);
    const later = await trader.placed(buy("10", "1"));
    expect(later).toMatchObject({
      state: "rejected",
      failure: { code: "POLICY_REJECTED", message: refused.body.error?.message, rule: "ask-often" },
    });
  });

  it("never exceeds a limit, with many concurrent orders and transactions in two markets at two services", async () => {
    await usePolicy([dailyLimit("1000.00")]);
    const states = await manyAtOnce(300);
    // 142 times 7.01 is 995.42; one more would exceed the limit.
    expect(states.get("rejected")).toBe(300 - 142);
    expect((states.get("open") ?? 0) + (states.get("completed") ?? 0)).toBe(142);
    expect(await lastTotal()).toEqual({ sum: "99542", count: "142" });
  });

  it("is counted after a concurrent one, even if it was allowed without sums", async () => {
    await usePolicy([{ name: "orders", when: { kind: "order" }, action: "allow" }, dailyLimit("1000.00")]);
    expect(await outcome(buy("10", "1"))).toEqual(["open", null]);
    // At the end of a batch an engine locks the log, counts usage, and commits.
    const { body } = await service.database.transaction(async (engine) => {
      await engine.query(sql`UPDATE event_sequences SET sequence = sequence WHERE tenant_id = ${tenantId()}`);
      await engine.query(sql`
        UPDATE usage_buckets SET sum = sum + 500, count = count + 1
        WHERE window_id IN (SELECT id FROM usage_windows WHERE tenant_id = ${tenantId()})
      `);
      const placed = await trader.place(buy("10", "1"));
      await eventually(
        () =>
          service.database.query(sql`
            SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          `),
        (rows) => rows.length > 0,
      );
      return placed;
    });
    await trader.until(body.id, ({ state }) => state === "open");
    expect(await lastTotal()).toEqual({ sum: "2500", count: "3" });
  });

  const lastTotal = async () => {
    const [total] = await service.database.query<{ sum: string; count: string }>(sql`
      SELECT sum(sum) AS sum, sum(count) AS count FROM usage_buckets
      WHERE window_id IN (SELECT id FROM usage_windows WHERE tenant_id = ${tenantId()})
    `);
    return total;
  };

  /** Creates transactions and orders of 7.01 USD each, a third of them transactions, and returns their number by state. */
  async function manyAtOnce(wanted: number): Promise<Map<string, number>> {
    const other = await service.another();
    try {
      const elsewhere = await tradingAs(other, trader.owner);
      const ask = (index: number) => {
        const by = index % 2 === 0 ? trader : elsewhere;
        const key = `race-${index}`;
        if (index % 3 === 1) return by.place(buy("701", "0.01"), key);
        if (index % 3 === 2) return by.place({ market: "USDC-USD", ...buy("0.0701", "100") }, key);
        const body = { reference: "r", asset: "USD", amount: "7.01" };
        return by.send("POST", "/v1/transactions", body, { "idempotency-key": key });
      };
      // On a busy machine some are shed, and can be retried.
      const untilAccepted = (index: number) =>
        eventually(
          () => ask(index),
          ({ status }) => status === 202,
        );
      await Promise.all(Array.from({ length: wanted }, (_, index) => untilAccepted(index)));
      const states = await eventually(
        () =>
          service.database.query<{ state: string; count: string }>(sql`
            SELECT state, count(*) FROM events WHERE tenant_id = ${tenantId()} GROUP BY state
          `),
        (rows) => rows.reduce((sum, { count }) => sum + Number(count), 0) === wanted,
      );
      return new Map(states.map(({ state, count }) => [state, Number(count)]));
    } finally {
      await other.stop();
    }
  }
});
