import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase } from "../../harness/database/test-database.js";
import { createTrader, findViolations } from "../../harness/markets/trader.js";
import { steppingAssets, steppingRail } from "../../harness/rails/stepping-rail.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

describe("the limits of one order and one tenant in a market", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({ "limits.open_orders": "1050" });
  });
  afterAll(async () => {
    expect(await findViolations(service)).toEqual([]);
    await service.stop();
  });
  const sell = { side: "sell", price: "100", size: "0.01" };

  it("are a thousand matches per order, and a number of open orders", async () => {
    const maker = await createTrader(service, { ETH: "100" });
    const taker = await createTrader(service, { USD: "100000" });
    const placed: Awaited<ReturnType<typeof maker.place>>[] = [];
    for (let done = 0; done < 1060; done += 53)
      placed.push(...(await Promise.all(Array.from({ length: 53 }, () => maker.place(sell)))));
    await maker.until(placed.at(-1)?.body.id ?? "", ({ state }) => state !== "pending");
    const rejected = await maker.placed(sell);
    expect(rejected).toMatchObject({ state: "rejected", failure: { code: "TOO_MANY_OPEN_ORDERS" } });
    expect(await maker.balances()).toMatchObject({ ETH: ["89.5", "10.5"] });
    // An order that cannot rest does not count as open.
    expect(await maker.placed({ ...sell, time_in_force: "ioc" })).toMatchObject({
      state: "cancelled",
      failure: { code: "UNFILLED" },
    });

    const sweep = { side: "buy", price: "100", size: "20" };
    expect(await taker.placed({ ...sweep, time_in_force: "fok", size: "10.5" })).toMatchObject({
      state: "rejected",
      failure: { code: "FOK_NOT_FILLABLE" },
    });
    expect(await taker.placed(sweep)).toMatchObject({
      state: "cancelled",
      filled: "10.00",
      failure: { code: "MATCH_LIMIT" },
    });
    expect(await taker.placed({ ...sweep, time_in_force: "ioc" })).toMatchObject({ filled: "0.50" });
    expect(await maker.balances()).toMatchObject({ ETH: ["89.5", "0"] });
    // The tenant is below the limit again.
    expect(await maker.placed(sell)).toMatchObject({ state: "open" });
  });

  it("report no fills for an order that was not filled", async () => {
    const [own, other] = [
      await createTrader(service, { ETH: "1", USD: "100" }),
      await createTrader(service, { ETH: "1" }),
    ];
    await own.placed({ side: "sell", price: "20", size: "0.01" });
    await other.placed({ side: "sell", price: "90", size: "0.01" });
    const order = { side: "buy", type: "market", quote_size: "0.50", self_trade: "cancel_oldest" };
    expect(await own.placed(order)).toMatchObject({
      state: "cancelled",
      filled: "0.00",
      failure: { code: "QUOTE_LIMIT" },
    });
  });
});

describe("a configured market", () => {
  const folder = createTemporaryFolder("markets");
  afterAll(() => rmSync(folder, { recursive: true }));
  const withMarkets = (...markets: string[]) => {
    const path = join(folder, "bursar.yaml");
    writeFileSync(path, `markets:\n${markets.map((market) => `  - ${market}\n`).join("")}`);
    return { BURSAR_CONFIG: path };
  };
  const coarse =
    "{ base: ETH, quote: USDC, tick_size: 0.01, lot_size: 0.001, size_min: 0.001, maker_fee_basis_points: 0, reference_price: 5 }";
  const dollars = "{ base: ETH, quote: USD, tick_size: 0.01, lot_size: 1, size_min: 1, reference_price: 5 }";

  it("continues after an order for less than the price of a lot at one tick", async () => {
    const service = await startTestService(withMarkets(coarse));
    try {
      const market = { market: "ETH-USDC" };
      const trader = await createTrader(service, { ETH: "1", USDC: "10" });
      const dust = { ...market, side: "buy", type: "market", quote_size: "0.000001" };
      expect(await trader.placed(dust)).toMatchObject({ failure: { code: "NO_LIQUIDITY" } });
      const ask = { ...market, side: "sell", price: "5", size: "0.001" };
      expect(await trader.placed(ask)).toMatchObject({ state: "open" });
      expect(await trader.placed(dust)).toMatchObject({ failure: { code: "QUOTE_LIMIT_TOO_LOW" } });
      expect(await trader.balances()).toMatchObject({ USDC: ["10", "0"] });
    } finally {
      await service.stop();
    }
  });

  it.each([
    ["without a reference price", "", "markets[0].reference_price (file", "is missing"],
    [
      "with one between two ticks",
      ", reference_price: 5.001",
      'reference_price is "5.001"',
      "multiple of the tick",
    ],
    ["with one that is zero", ", reference_price: 0", "markets[0].reference_price", "greater than zero"],
    [
      "with a band of zero",
      ", reference_price: 5, price_band_basis_points: 0",
      "price_band_basis_points",
      "from 1 to",
    ],
  ])("is refused at the start %s", async (_, more, place, reason) => {
    const market = `{ base: ETH, quote: USD, tick_size: 0.01, lot_size: 1, size_min: 1${more} }`;
    const message = String(
      await startTestService(withMarkets(market)).catch((error: Error) => error.message),
    );
    expect(message).toContain(place);
    expect(message).toContain(reason);
  });

  it("must trade two assets of one network", async () => {
    const rails = { parts: [{ rail: steppingRail }], assets: steppingAssets };
    const market =
      "{ base: ETH, quote: STEP, tick_size: 0.01, lot_size: 1, size_min: 1, reference_price: 5 }";
    await expect(startTestService(withMarkets(market), undefined, undefined, rails)).rejects.toThrow(
      /markets\[0\]\.quote is "STEP": it must be an asset of the network book, like ETH; STEP is one of test:steps/,
    );
  });

  it("must stay configured while it has orders", async () => {
    const database = await createTestDatabase();
    const shared = { database, masterKey: new Uint8Array(32), publicUrl: undefined };
    try {
      const before = await startTestService(withMarkets(coarse, dollars), shared);
      const trader = await createTrader(before, { ETH: "1" });
      await trader.placed({ market: "ETH-USDC", side: "sell", price: "5", size: "0.001" });
      await before.stop();
      await expect(startTestService(withMarkets(dollars), shared)).rejects.toThrow(
        "ETH-USDC has orders but is not configured",
      );
      await (await startTestService(withMarkets(coarse), shared)).stop();
    } finally {
      await database.drop();
    }
  });
});
