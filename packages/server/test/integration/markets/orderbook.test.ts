import { checksumDepth } from "@bursar/domain";
import type { Orderbook } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLevelStore, removeOldDeltas } from "../../../src/store/markets/market-levels.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, type Trader, tradingAs } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

/** Two services share the database: one of them runs a market, and both serve its book. */
describe("the order book", () => {
  let first: TestService;
  let second: TestService;
  let maker: Trader;
  beforeAll(async () => {
    first = await startTestService();
    second = await first.another();
    maker = await createTrader(first, { ETH: "1000", USD: "1000000" });
  });
  afterAll(async () => {
    await second.stop();
    await first.stop();
  });

  const showing = (trader: Trader, query: string, isExpected: (book: Orderbook) => boolean) =>
    eventually(() => trader.book(query), isExpected);

  it("is empty before the first order, and defaults to the first market", async () => {
    const book = await maker.book();
    expect(book).toMatchObject({
      market: "ETH-USD",
      sequence: 0,
      bids: [],
      asks: [],
      source: "bursar",
      stale: false,
    });
    expect(book.checksum).toBe(0);
  });

  it("shows levels best first, the sum of their orders, and the same in every process", async () => {
    for (const [side, price, size] of [
      ["buy", "99", "1"],
      ["buy", "100", "0.5"],
      ["buy", "100", "0.25"],
      ["sell", "103", "2"],
      ["sell", "102", "1"],
    ])
      await maker.placed({ side, price, size });
    const book = await showing(maker, "", ({ asks }) => asks.length === 2);
    expect(book.bids).toEqual([
      ["100", "0.75"],
      ["99", "1.00"],
    ]);
    expect(book.asks).toEqual([
      ["102", "1.00"],
      ["103", "2.00"],
    ]);
    expect(book.checksum).toBe(checksumDepth(book.asks as never, book.bids as never));
    const elsewhere = await tradingAs(second, maker.owner);
    expect(await showing(elsewhere, "", ({ sequence }) => sequence === book.sequence)).toEqual(book);
    const top = await maker.book("?market=ETH-USD&depth=1");
    expect([top.bids, top.asks]).toEqual([[["100", "0.75"]], [["102", "1.00"]]]);
    expect(top.checksum).toBe(book.checksum);
  });

  it("has an ETag, and answers 304 if nothing has changed", async () => {
    const response = await first.call("GET", "/v1/orderbook", maker.token);
    const tag = response.headers.get("etag") ?? "";
    expect(response.headers.get("content-type")).toBe("application/json; charset=utf-8");
    const ask = async (known = tag) =>
      (await first.call("GET", "/v1/orderbook", maker.token, undefined, { "if-none-match": known })).status;
    expect(await ask()).toBe(304);
    for (const known of [tag.slice("W/".length), `"other", ${tag}`, `W/"other",${tag}`, "*"])
      expect(await ask(known), known).toBe(304);
    for (const known of ['"other"', `"${tag}`, tag.slice("W/".length, -1), ""])
      expect(await ask(known), known).toBe(200);
    await maker.placed({ side: "buy", price: "98", size: "1" });
    expect(
      await eventually(
        () => ask(),
        (status) => status === 200,
      ),
    ).toBe(200);
  });

  it("refuses unknown markets and depths out of bounds", async () => {
    const refusal = async (query: string) => {
      const { status, body } = await maker.send("GET", `/v1/orderbook${query}`);
      return [status, body.error?.code];
    };
    expect(await refusal("?market=ETH-EUR")).toEqual([404, "MARKET_NOT_FOUND"]);
    expect(await refusal("?depth=0")).toEqual([400, "INVALID_REQUEST"]);
    expect(await refusal("?depth=1001")).toEqual([400, "INVALID_REQUEST"]);
    expect((await maker.send("GET", "/v1/markets/ETH-EUR/trades")).body.error?.code).toBe("MARKET_NOT_FOUND");
  });

  it("lists markets with their tick and lot sizes, and trades without their owners", async () => {
    const taker = await createTrader(second, { USD: "1000" });
    await taker.placed({ side: "buy", price: "103", size: "1.5" });
    const { data: markets } = (await maker.send("GET", "/v1/markets")).body as unknown as { data: object[] };
    expect(markets[0]).toEqual({
      market: "ETH-USD",
      base: "ETH",
      quote: "USD",
      tick_size: "1",
      lot_size: "0.01",
      size_min: "0.01",
      maker_fee_basis_points: 10,
      taker_fee_basis_points: 20,
      state: "trading",
      reference_price: "3000",
      price_band_basis_points: 1_000_000,
      slippage_basis_points: 1_000_000,
      price_min: "1",
      price_max: "303000",
    });
    const { body, text } = await taker.send("GET", "/v1/markets/ETH-USD/trades?limit=1");
    const page = body as unknown as { data: { price: string }[]; next_cursor: string };
    expect(page.data).toMatchObject([{ sequence: 2, price: "103", size: "0.50", taker_side: "buy" }]);
    const next = await taker.send("GET", `/v1/markets/ETH-USD/trades?limit=1&cursor=${page.next_cursor}`);
    expect((next.body as unknown as typeof page).data).toMatchObject([
      { sequence: 1, price: "102", size: "1.00" },
    ]);
    for (const { owner } of [maker, taker]) expect(text).not.toContain(owner.tenantId);
  });

  it("keeps the last change of each market, so that a copy that is far behind can detect it", async () => {
    const levels = createLevelStore(first.keyed);
    expect(await levels.listDeltas("ETH-USD", 0, 10)).not.toHaveLength(0);
    await removeOldDeltas(first.database, new Date(Date.now() + 60_000));
    const { sequence } = (await levels.readLevels("ETH-USD")).levels;
    expect(await levels.listDeltas("ETH-USD", sequence, 10)).toEqual([]);
    expect(await levels.listDeltas("ETH-USD", 1, 10)).toBeUndefined();
  });
});
