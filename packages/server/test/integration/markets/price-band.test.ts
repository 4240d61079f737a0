import { rmSync } from "node:fs";
import type { MarketDefinition } from "@bursar/domain";
import { readId } from "@bursar/protocol";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { sandboxMarkets } from "../../../src/config/market-list.js";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createOrderStore } from "../../../src/store/markets/orders.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, findViolations, type Trader, tradingAs } from "../../harness/markets/trader.js";
import { writeMarkets } from "../../harness/markets/wide-markets.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

/** ETH-USD with a tick of 1 and a reference price of 3000: at first, orders from 2700 to 3300 are allowed. */
const funds = { ETH: "1000", USD: "10000000" };
const order = (side: "buy" | "sell", price: string, size = "1") => ({ side, price, size });
const marketSell = (size: string) => ({ side: "sell", type: "market", size });

describe("a market with a price band", () => {
  const folder = createTemporaryFolder("price-band");
  let database: TestDatabase;
  let service: TestService;
  beforeEach(async () => {
    database = await createTestDatabase();
    service = await start();
  });
  afterEach(async () => {
    expect(await findViolations(service)).toEqual([]);
    await service.stop();
    await database.drop();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const start = (changes: Partial<MarketDefinition> = {}) => {
    const markets = sandboxMarkets.map((market, index) => (index === 0 ? { ...market, ...changes } : market));
    const settings = { BURSAR_CONFIG: writeMarkets(folder, markets) };
    return startTestService(settings, {
      database,
      masterKey: new Uint8Array(32),
      publicUrl: "http://bursar.test",
    });
  };
  const restart = async (changes: Partial<MarketDefinition> = {}) => {
    await service.stop();
    service = await start(changes);
  };
  const traders = (...all: object[]) => Promise.all(all.map(() => createTrader(service, funds)));
  const rangeSeenBy = async (trader: Trader) => {
    const { data } = (await trader.send("GET", "/v1/markets")).body as unknown as {
      data: { market: string; price_min: string | null; price_max: string | null }[];
    };
    const found = data.find(({ market }) => market === "ETH-USD");
    return [found?.price_min, found?.price_max];
  };
  /** One lot from one tenant to the other, at this price. */
  const trade = async (seller: Trader, buyer: Trader, price: string) => {
    expect(await seller.placed(order("sell", price, "0.01"))).toMatchObject({ state: "open" });
    expect(await buyer.placed(order("buy", price, "0.01"))).toMatchObject({ state: "filled" });
  };

  it("refuses to sell 1000 ETH at 1 USD, and names the allowed range", async () => {
    const [seller, buyer] = (await traders({}, {})) as [Trader, Trader];
    for (const refused of [
      await buyer.place(order("buy", "1", "1000")),
      await seller.place(order("sell", "1", "1000")),
      await seller.place({ ...order("sell", "2699", "1000"), time_in_force: "ioc" }),
      await buyer.place(order("buy", "3301")),
    ])
      expect([refused.status, refused.body.error]).toMatchObject([
        422,
        { code: "PRICE_OUT_OF_BAND", details: [{ path: "body.price", min: "2700", max: "3300" }] },
      ]);
    expect(await seller.balances()).toMatchObject({ ETH: ["1000", "0"] });
    expect(await seller.placed(order("sell", "3300"))).toMatchObject({ state: "open" });
    expect(await buyer.placed(order("buy", "2700"))).toMatchObject({ state: "open" });
  });

  it("is decided by the process that runs the market, whatever the one that accepts knows", async () => {
    const [seller, buyer] = (await traders({}, {})) as [Trader, Trader];
    const { id } = await buyer.placed(order("buy", "2700"));
    const tenantId = readId("tnt", seller.owner.tenantId) ?? "";
    // As if another process had accepted it, with an older band.
    const [made] = await database.query<{ id: string; walletId: string }>(sql`
      SELECT uuidv7() AS id, id AS "walletId" FROM wallets WHERE tenant_id = ${tenantId} AND role = 'primary'
    `);
    if (made === undefined) throw new Error("the tenant has no wallet");
    await createOrderStore(withKeys(database, service.keys)).acceptOrders([
      {
        ...{ ...made, tenantId, clientId: seller.owner.client.id, market: "ETH-USD", reference: null },
        ...{ idempotencyKey: "late", requestHash: "00", policyVersion: 1, needsJudgement: false },
        ...{ side: "sell", type: "limit", timeInForce: "gtc", selfTrade: "cancel_newest" },
        ...{ price: 1, size: 100_000, quoteSize: null, createdAt: new Date() },
      },
    ]);
    const { data } = (await eventually(
      async () => (await seller.send("GET", "/v1/orders?state=rejected")).body,
      (body) => (body as unknown as { data: object[] }).data.length === 1,
    )) as unknown as { data: object[] };
    expect(data).toMatchObject([{ price: "1", failure: { code: "PRICE_OUT_OF_BAND" }, filled: "0.00" }]);
    expect(await buyer.read(id)).toMatchObject({ state: "open" });
    expect(await seller.balances()).toMatchObject({ ETH: ["1000", "0"] });
  });

  it("bounds a market order by its slippage, and cancels the rest", async () => {
    const [seller, buyer] = (await traders({}, {})) as [Trader, Trader];
    await buyer.placed(order("buy", "3000", "1"));
    await buyer.placed(order("buy", "2850", "1"));
    const planted = await buyer.placed(order("buy", "2849", "998"));
    expect(await seller.placed(marketSell("1000"))).toMatchObject({
      state: "cancelled",
      filled: "2.00",
      quote_filled: "5850",
      failure: { code: "SLIPPAGE_LIMIT" },
    });
    expect(await buyer.read(planted.id)).toMatchObject({ state: "open", filled: "0.00" });
    await seller.placed(order("sell", "3000", "1"));
    await seller.placed(order("sell", "3151", "1"));
    const spend = { side: "buy", type: "market", quote_size: "10000" };
    expect(await buyer.placed(spend)).toMatchObject({
      state: "cancelled",
      filled: "1.00",
      failure: { code: "SLIPPAGE_LIMIT" },
    });
  });

  it("answers an order that it has accepted as before, also if it would refuse its size by now", async () => {
    const [buyer] = (await traders({})) as [Trader];
    const small = order("buy", "2700", "0.01");
    const first = await buyer.place(small, "small");
    expect(first.status).toBe(202);
    await restart({ sizeMin: "1" });
    const again = await tradingAs(service, buyer.owner);
    expect((await again.place(small, "small")).text).toBe(first.text);
    expect((await again.place(small, "another")).body.error?.code).toBe("SIZE_NOT_IN_LOTS");
  });

  it("refuses a market order into bids that were left outside the band, which stay until they are cancelled", async () => {
    const [seller, buyer] = (await traders({}, {})) as [Trader, Trader];
    const left = await buyer.placed(order("buy", "2700", "2"));
    await restart({ referencePrice: "4000" });
    const [again, bidder] = [await tradingAs(service, seller.owner), await tradingAs(service, buyer.owner)];
    await eventually(
      () => rangeSeenBy(again),
      ([min]) => min === "3600",
    );
    const refused = await again.place(marketSell("1"));
    expect([refused.status, refused.body.error]).toMatchObject([
      422,
      { code: "PRICE_OUT_OF_BAND", details: [{ path: "body.type", min: "3600", max: "4400" }] },
    ]);
    expect(await bidder.read(left.id)).toMatchObject({ state: "open" });
    // A change of an order only makes it smaller: it cannot be given another price.
    const moved = await bidder.send("PATCH", `/v1/orders/${left.id}`, { price: "1" });
    expect([moved.status, moved.body.error?.code]).toEqual([400, "INVALID_REQUEST"]);
    const both = await bidder.send("PATCH", `/v1/orders/${left.id}`, { size: "1", price: "1" });
    expect([both.status, both.body.error?.code]).toEqual([400, "INVALID_REQUEST"]);
    expect((await bidder.send("PATCH", `/v1/orders/${left.id}`, { size: "1" })).status).toBe(202);
    await bidder.until(left.id, ({ size }) => size === "1.00");
    await bidder.send("DELETE", `/v1/orders/${left.id}`);
    await bidder.until(left.id, ({ state }) => state === "cancelled");
  });

  it("cannot be walked by two tenants that trade with each other in steps", async () => {
    const [thief, victim] = (await traders({}, {})) as [Trader, Trader];
    for (const _ of Array(3)) await trade(victim, thief, "2700");
    for (const _ of Array(3)) await trade(thief, victim, "2700");
    expect(await rangeSeenBy(thief)).toEqual(["2700", "3300"]);
    expect((await thief.place(order("buy", "2430", "1000"))).body.error?.code).toBe("PRICE_OUT_OF_BAND");
    expect((await victim.place(order("sell", "2430", "1000"))).body.error?.code).toBe("PRICE_OUT_OF_BAND");
  });

  it("follows what three tenants trade at, and keeps it through a restart and a takeover", async () => {
    const [one, two, three] = (await traders({}, {}, {})) as [Trader, Trader, Trader];
    await trade(one, two, "3200");
    expect(await rangeSeenBy(one)).toEqual(["2700", "3300"]);
    await trade(one, three, "3300");
    const moved = await eventually(
      () => rangeSeenBy(one),
      ([min]) => min !== "2700",
    );
    expect(moved).toEqual(["2880", "3520"]);
    expect(await one.placed(order("sell", "3500"))).toMatchObject({ state: "open" });
    const second = await service.another();
    const elsewhere = await tradingAs(second, one.owner);
    expect(
      await eventually(
        () => rangeSeenBy(elsewhere),
        ([min]) => min !== null,
      ),
    ).toEqual(["2880", "3520"]);
    await service.stop();
    // The second process takes over, and decides by the same band.
    expect(await elsewhere.placed(order("sell", "3520"))).toMatchObject({ state: "open" });
    expect((await elsewhere.place(order("sell", "3521"))).status).toBe(422);
    const other = await tradingAs(second, two.owner);
    await trade(elsewhere, other, "3400");
    await eventually(
      () => rangeSeenBy(other),
      ([min]) => min === "2970",
    );
    await second.stop();
    service = await start();
    const back = await tradingAs(service, one.owner);
    expect(
      await eventually(
        () => rangeSeenBy(back),
        ([min]) => min !== null,
      ),
    ).toEqual(["2970", "3630"]);
  });
});
