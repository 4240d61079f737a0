import type { PolicyDocument } from "@bursar/domain";
import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createWindowFiller } from "../../../src/store/policy/fill-windows.js";
import { createPolicyStore } from "../../../src/store/policy/policies.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, type Trader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { policyOf } from "../../harness/transactions/policy-client.js";

const allow = { action: "allow" } as const;
const pers = ["wallet", "client", "tenant"] as const;

/** Limits that nothing reaches, of every kind; large payments need an approval that nobody gives. */
const watching = (periodSeconds: number): PolicyDocument => ({
  rules: [
    {
      name: "large",
      when: { kind: "transaction", amount: { asset: "USD", min: "1000" } },
      action: "require_approval",
      approvals: 1,
    },
    ...pers.flatMap((per) => [
      {
        name: `sum-${per}`,
        when: { sum: { asset: "USD", per, period_seconds: periodSeconds, above: "1000000" } },
        action: "reject" as const,
        reason: "Too much.",
      },
      {
        name: `count-${per}`,
        when: { count: { per, period_seconds: periodSeconds, above: 100_000 } },
        action: "reject" as const,
        reason: "Too many.",
      },
    ]),
  ],
  default: allow,
});

describe("a limit that is new in a policy", () => {
  let service: TestService;
  let trader: Trader;
  let count = 0;
  beforeAll(async () => {
    service = await startTestService();
  });
  beforeEach(async () => {
    trader = await createTrader(service, { USD: "100000", ETH: "10" }, { allowsOrders: false });
  });
  afterAll(() => service.stop());

  const tenantId = () => readId("tnt", trader.owner.tenantId) ?? "";
  const replace = (document: PolicyDocument) => policyOf(service, trader.token).replace(document);
  const send = async (amount: string) => {
    const body = { reference: "r", asset: "USD", amount };
    const headers = { "idempotency-key": `pay-${count++}` };
    return (await trader.send("POST", "/v1/transactions", body, headers)).body.id;
  };
  const stateOf = async (id: string) =>
    ((await trader.send("GET", `/v1/transactions/${id}`)).body as unknown as Transaction).state;
  const pay = async (amount: string) => {
    const id = await send(amount);
    return {
      id,
      state: await eventually(
        () => stateOf(id),
        (state) => state !== "accepted",
      ),
    };
  };
  /** What each window holds for a wallet, client or tenant. A replaced version guards the next one, so its windows are kept too. */
  const allSums = () =>
    service.database.query<{ period: number; name: string; sum: string; count: string }>(sql`
      SELECT w.period_seconds AS period, w.per || ' ' || w.asset || ' ' || b.scope_id AS name, sum(b.sum) AS sum, sum(b.count) AS count
      FROM usage_windows w JOIN usage_buckets b ON b.window_id = w.id
      WHERE w.tenant_id = ${tenantId()} AND w.retired_at IS NULL AND w.filled_to IS NULL GROUP BY 1, 2 ORDER BY 1, 2
    `);
  const sums = async (wanted: number) =>
    (await allSums()).flatMap(({ period, ...sum }) => (period === wanted ? [sum] : []));

  it("counts the past of payments, orders and what was taken back, as if it had always been there", async () => {
    expect((await replace(watching(86_400))).status).toBe(200);
    for (const amount of ["1", "2.50", "30"]) expect((await pay(amount)).state).toBe("completed");
    const cancelled = await pay("2000");
    expect(cancelled.state).toBe("awaiting_approval");
    await trader.send("POST", `/v1/transactions/${cancelled.id}/cancel`, {});
    expect((await pay("3000")).state).toBe("awaiting_approval");
    // Rejected before it counted, filled or resting, and cancelled after it counted.
    expect((await trader.placed({ side: "buy", price: "3000", size: "1000" })).state).toBe("rejected");
    expect((await trader.placed({ side: "buy", price: "3000", size: "1" })).state).toBe("open");
    const sold = await trader.placed({ side: "sell", price: "3100", size: "2" });
    expect(sold.state).toBe("open");
    const ioc = { side: "buy", price: "3000", size: "0.5", time_in_force: "ioc" };
    expect((await trader.placed(ioc)).state).toBe("cancelled");
    const counted = await sums(86_400);
    expect(counted).toHaveLength(6);
    expect(counted.find(({ name }) => name.startsWith("tenant USD"))).toMatchObject({
      sum: "753350",
      count: "6",
    });

    expect((await replace(watching(86_401))).status).toBe(200);
    expect(await sums(86_401)).toEqual(counted);
    // What was counted from the past is taken back like any other.
    const waiting = await pay("4000");
    await trader.send("POST", `/v1/transactions/${waiting.id}/cancel`, {});
    expect([await sums(86_400), await sums(86_401)]).toEqual([counted, counted]);
  });

  it("does not start at zero when its period is changed", async () => {
    const limited = (periodSeconds: number): PolicyDocument => ({
      rules: [
        {
          name: "daily",
          when: { sum: { asset: "USD", per: "wallet", period_seconds: periodSeconds, above: "100" } },
          action: "reject",
          reason: "The limit is used up.",
        },
      ],
      default: allow,
    });
    // Before the first policy, by a payment that the built-in one allows.
    expect((await pay("60")).state).toBe("completed");
    for (let round = 0; round < 3; round++) {
      expect((await replace(limited(86_400 + round))).status).toBe(200);
      expect((await pay("41")).state).toBe("rejected");
    }
    expect((await pay("40")).state).toBe("completed");
    expect((await replace(limited(86_400))).status).toBe(200);
    expect((await pay("1")).state).toBe("rejected");
  });

  it("counts everything once while payments are settled and policies are replaced", async () => {
    expect((await replace(watching(86_400))).status).toBe(200);
    let isOver = false;
    const replacing = (async () => {
      for (let round = 1; !isOver; round++)
        expect((await replace(watching(86_400 + (round % 5)))).status).toBe(200);
    })();
    const ids: string[] = [];
    for (let round = 0; round < 25; round++)
      ids.push(...(await Promise.all(Array.from({ length: 6 }, () => send("1")))));
    const last = await pay("1");
    expect(last.state).toBe("completed");
    isOver = true;
    await replacing;
    await eventually(
      () => service.database.query(sql`SELECT FROM open_transactions WHERE tenant_id = ${tenantId()}`),
      (rows) => rows.length === 0,
    );
    const total = ids.length + 1;
    for (const { name, sum, count: counted } of await allSums())
      expect({ name, sum, counted }).toEqual({
        name,
        sum: name.includes("USD") ? String(total * 100) : "0",
        counted: String(total),
      });
  });

  it("is filled slice by slice, by one request after the other, while payments go on", async () => {
    const kind = { per: "tenant", asset: "USD", periodSeconds: 7200 } as const;
    for (const amount of ["1", "2", "3", "4", "5"]) await pay(amount);
    const prepare = createWindowFiller({
      database: service.database,
      log: createEventLog({ publish: () => undefined }),
      now: () => Date.now(),
      monotonicMs: () => performance.now(),
      pause: async () => undefined,
      sliceMax: 2,
      budgetMs: 0,
    });
    expect(await prepare(tenantId(), 0, [kind])).toBe("filling");
    await pay("6");
    expect(await sums(7200)).toEqual([]);
    // For another version than the one in force nothing is prepared.
    expect(await prepare(tenantId(), 1, [{ ...kind, periodSeconds: 60 }])).toBe("ready");
    let attempts = 1;
    while ((await prepare(tenantId(), 0, [kind])) === "filling") attempts += 1;
    expect(attempts).toBeGreaterThanOrEqual(3);
    await pay("7");
    expect(await sums(7200)).toEqual([{ name: `tenant USD ${tenantId()}`, sum: "2800", count: "7" }]);
  });

  it("cannot be put in force before its sums are complete", async () => {
    const store = createPolicyStore(service.database, { publish: () => undefined });
    const unprepared = {
      ...{ document: watching(600), clientId: null, createdAt: new Date(), guards: [], namedBefore: [] },
      windows: [{ per: "tenant", asset: "USD", periodSeconds: 600 }] as const,
    };
    await expect(store.writePolicy(tenantId(), 0, unprepared, {} as never)).rejects.toThrow("has no sums");
  });

  it("is evaluated with the past before it is in force, and keeps no sums for that", async () => {
    await pay("60");
    const transaction = { reference: "what if", asset: "USD", amount: "1" };
    const { body } = await trader.send("POST", "/v1/policy/evaluate", {
      transaction,
      document: watching(3600),
    });
    expect(body).toMatchObject({
      action: "allow",
      sums: [{ before: "60" }, { before: "1" }, {}, {}, {}, {}],
    });
    expect(await allSums()).toEqual([]);
  });
});
