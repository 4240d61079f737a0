import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MarketMovedError, type MarketUnit } from "../../../src/app/markets/market-store.js";
import { createIntegrityKeys } from "../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { LeaseLostError } from "../../../src/runtime/loops/lease.js";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createMarketLoader } from "../../../src/store/markets/load-market.js";
import { createMarketLeases } from "../../../src/store/markets/market-leases.js";
import { createMarketUnits } from "../../../src/store/markets/market-unit.js";
import { eventually } from "../../harness/eventually.js";
import { createRandomDeeds } from "../../harness/markets/random-orders.js";
import { replayMarket } from "../../harness/markets/replay-market.js";
import { createTrader, findViolations, type Trader, tradingAs } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

/** The guarantees of a market under contention. Two services share the database. */
describe("a market", () => {
  let first: TestService;
  let second: TestService;
  beforeAll(async () => {
    first = await startTestService();
    second = await first.another();
  });
  afterAll(async () => {
    await second.stop();
    await first.stop();
  });

  const nothingToDo = () =>
    eventually(
      async () =>
        (
          await first.database.query(sql`
            SELECT FROM open_orders WHERE state = 'pending' OR cancel_requested OR amend_size IS NOT NULL
            UNION ALL SELECT FROM markets WHERE applied_sequence < admitted_sequence LIMIT 1`)
        ).length,
      (count) => count === 0,
    );

  it("never holds more than the balance, with many concurrent orders", async () => {
    const trader = await createTrader(first, { USD: "200" });
    const elsewhere = await tradingAs(second, trader.owner);
    const placed = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        (index % 2 === 0 ? trader : elsewhere).place({ side: "buy", price: "10", size: "1" }),
      ),
    );
    expect(new Set(placed.map(({ status }) => status))).toEqual(new Set([202]));
    await nothingToDo();
    const orders = await Promise.all(placed.map(({ body }) => trader.read(body.id)));
    expect(orders.filter(({ state }) => state === "open")).toHaveLength(20);
    expect(orders.filter(({ failure }) => failure?.code === "INSUFFICIENT_FUNDS")).toHaveLength(180);
    expect(await trader.balances()).toEqual({ USD: ["0", "200"] });
    await Promise.all(orders.map(({ id }) => trader.send("DELETE", `/v1/orders/${id}`)));
    await nothingToDo();
    expect(await trader.balances()).toEqual({ USD: ["200", "0"] });
  });

  it("places one order for a key that is sent to two services concurrently", async () => {
    const trader = await createTrader(first, { USD: "1000" });
    const elsewhere = await tradingAs(second, trader.owner);
    const body = { side: "buy", price: "1", size: "1" };
    for (let key = 0; key < 20; key++) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, copy) =>
          (copy % 2 === 0 ? trader : elsewhere).place(body, `race-${key}`),
        ),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    }
    await nothingToDo();
    expect(await trader.balances()).toEqual({ USD: ["980", "20"] });
  });

  it("equals the fold of its commands after random activity: the same book, trades, levels and balances", async () => {
    const traders: Trader[] = [];
    for (let index = 0; index < 4; index++) {
      const trader = await createTrader(first, { USD: "20000", ETH: "200" });
      traders.push(trader, await tradingAs(second, trader.owner));
    }
    await Promise.all(traders.map((trader, index) => actAtRandom(trader, createRandomDeeds(index), 150)));
    await nothingToDo();
    const { fingerprints, trades, deltas, commands } = await replayMarket(first.database, "ETH-USD");
    expect(commands).toBeGreaterThan(500);
    expect(fingerprints.replayed).toBe(fingerprints.restored);
    expect(trades.replayed).toEqual(trades.stored);
    expect(trades.stored.length).toBeGreaterThan(50);
    expect(deltas).toEqual({ count: deltas.count, wrong: [] });
    expect(deltas.count).toBeGreaterThan(50);
    expect(await findViolations(first)).toEqual([]);
    // The total is conserved: in the traders' wallets, in fees, or held.
    const [sums] = await first.database.query<{ usd: string; eth: string }>(sql`
      SELECT sum(available + held) FILTER (WHERE asset = 'USD')::text AS usd,
        sum(available + held) FILTER (WHERE asset = 'ETH')::text AS eth FROM ledger_accounts WHERE kind IN ('wallet', 'fees')`);
    expect(sums).toEqual({ usd: `${(200 + 1000 + 80_000) * 100}`, eth: `${800n * 10n ** 18n}` });
  });

  it("rejects every write of a process that lost the lease", async () => {
    const { database } = first;
    const keyed = withKeys(
      database,
      createIntegrityKeys(createSealing(createKeyring([Buffer.alloc(32, 7)]))),
    );
    const events = createEventLog({ publish: () => undefined });
    const leases = createMarketLeases(database);
    await database.run(
      "INSERT INTO markets (market, base, quote, tick_size, lot_size, lot_units, tick_lot_units) VALUES ('LATE-USD', 'ETH', 'USD', '1', '1', 1, 1)",
    );
    const [late] = await leases.acquire("LATE-USD", "00000000-0000-7000-8000-000000000001", 1);
    expect(await leases.acquire("ETH-USD", "00000000-0000-7000-8000-000000000001", 1)).toEqual([]);
    const [newer] = await eventually(
      () => leases.acquire("LATE-USD", "00000000-0000-7000-8000-000000000002", 60_000),
      (acquired) => acquired.length > 0,
    );
    if (late === undefined || newer === undefined) throw new Error("no process holds the market");
    const before = await database.query(sql`SELECT * FROM markets WHERE market = 'LATE-USD'`);
    const { unitOfWork } = createMarketUnits(keyed, events);
    const nothing = { changes: [], trades: [], entries: [] };
    const batch = {
      ...nothing,
      sequence: 1,
      levelChanges: [],
      band: { reference: 1, prices: [] },
      occurredAt: new Date(),
    };
    const write = (unit: MarketUnit) => unit.writeBatch(batch, new Map());
    const attempts = [
      () => createMarketLoader(keyed).load(late, 60_000, false),
      () =>
        unitOfWork(late, (unit) =>
          unit.claimOrders({ limit: 1, afterTenantId: undefined, areNewFirst: true, now: new Date() }),
        ),
      () => unitOfWork(late, write),
      // A unit that only locks must not commit either.
      () => unitOfWork(late, async () => undefined),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toThrow(LeaseLostError);
    expect(await leases.renew([late], 60_000)).toEqual([]);
    await leases.release([late]);
    expect(await database.query(sql`SELECT * FROM markets WHERE market = 'LATE-USD'`)).toEqual(before);
    // After a restore a lease can be valid again while the book in memory is ahead.
    const ahead = { admittedSequence: 5, appliedSequence: 5 };
    await expect(unitOfWork(newer, write, ahead)).rejects.toThrow(MarketMovedError);
    await unitOfWork(newer, write, { admittedSequence: 0, appliedSequence: 0 });
    // Loading can take longer than the lease, so the lease is renewed from the end of loading.
    await database.run("UPDATE markets SET expires_at = now() - interval '1 hour' WHERE market = 'LATE-USD'");
    await createMarketLoader(keyed).load(newer, 60_000, true);
    expect(await leases.acquire("LATE-USD", "00000000-0000-7000-8000-000000000003", 1)).toEqual([]);
  });

  async function actAtRandom(
    trader: Trader,
    next: () => ReturnType<ReturnType<typeof createRandomDeeds>>,
    count: number,
  ) {
    const own: string[] = [];
    for (let done = 0; done < count; done++) {
      const deed = next();
      if (deed.kind === "place") own.unshift((await trader.place(deed.body)).body.id);
      else {
        const id = own[deed.ago];
        if (id === undefined) continue;
        if (deed.kind === "cancel") await trader.send("DELETE", `/v1/orders/${id}`);
        else await trader.send("PATCH", `/v1/orders/${id}`, { size: deed.size });
      }
    }
  }
});
