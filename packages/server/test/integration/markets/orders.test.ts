import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { createTrader, findViolations, type Trader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

const limit = (side: "buy" | "sell", price: string, size: string, more: object = {}) => ({
  side,
  price,
  size,
  ...more,
});

describe("orders", () => {
  let service: TestService;
  let seller: Trader;
  let buyer: Trader;
  beforeAll(async () => {
    service = await startTestService();
  });
  beforeEach(async () => {
    seller = await createTrader(service, { ETH: "100" });
    buyer = await createTrader(service, { USD: "100000" });
  });
  afterAll(async () => {
    expect(await findViolations(service)).toEqual([]);
    await service.stop();
  });

  it("that cross make a trade, which moves money and takes fees from what each side receives", async () => {
    const resting = await seller.placed(limit("sell", "3000", "2"));
    expect(resting).toMatchObject({ state: "open", filled: "0.00", remaining: "2.00", version: 2 });
    expect(resting.created_by).toMatch(/^cli_/);
    expect(await seller.balances()).toEqual({ ETH: ["98", "2"] });
    const taker = await buyer.placed(limit("buy", "3010", "0.5"));
    expect(taker).toMatchObject({
      state: "filled",
      filled: "0.50",
      remaining: "0.00",
      quote_filled: "1500",
      fee: { asset: "ETH", amount: "0.001" },
      failure: null,
    });
    expect(await seller.until(resting.id, ({ version }) => version === 3)).toMatchObject({
      state: "partially_filled",
      filled: "0.50",
      remaining: "1.50",
      quote_filled: "1500",
      fee: { asset: "USD", amount: "1.5" },
    });
    expect(await buyer.balances()).toEqual({ ETH: ["0.499", "0"], USD: ["98500", "0"] });
    expect(await seller.balances()).toEqual({ ETH: ["98", "1.5"], USD: ["1498.5", "0"] });
    await seller.send("DELETE", `/v1/orders/${resting.id}`);
    expect(await seller.until(resting.id, ({ state }) => state === "cancelled")).toMatchObject({
      failure: null,
      remaining: "1.50",
    });
    expect(await seller.balances()).toEqual({ ETH: ["99.5", "0"], USD: ["1498.5", "0"] });
  });

  it("are found by their reference, their wallet and their time", async () => {
    const first = await seller.placed(limit("sell", "3500", "1", { reference: "hedge 1" }));
    const second = await seller.placed(limit("sell", "3501", "1"));
    const third = await seller.placed(limit("sell", "3502", "1", { reference: "hedge 1" }));
    const find = async (query: string) => {
      const { body } = await seller.send("GET", `/v1/orders?${query}`);
      return (body as unknown as { data: { id: string }[] }).data.map(({ id }) => id);
    };
    const [one, two, three] = [first.id, second.id, third.id];
    expect(await find("reference=hedge%201")).toEqual([three, one]);
    expect(await find("reference=other")).toEqual([]);
    expect(await find("reference=hedge%201&state=open&side=sell&market=ETH-USD")).toEqual([three, one]);
    expect(await find("reference=hedge%201&state=filled")).toEqual([]);
    const wallet = `wallet_id=${first.wallet_id}`;
    expect(await find(wallet)).toEqual([three, two, one]);
    expect(await find("wallet_id=wlt_01h455vb4pex5vsknk084sn02q")).toEqual([]);
    expect(await find(`${wallet}&state=open&limit=2`)).toEqual([three, two]);
    expect(await find(`created_after=${second.created_at}`)).toEqual([three, two]);
    expect(await find(`${wallet}&created_before=${second.created_at}`)).toEqual([one]);
    for (const { id } of [first, second, third]) {
      await seller.send("DELETE", `/v1/orders/${id}`);
      await seller.until(id, ({ state }) => state === "cancelled");
    }
    expect(await find(`${wallet}&state=cancelled`)).toEqual([three, two, one]);
    expect(await find(`${wallet}&state=rejected`)).toEqual([]);
    expect(await find(`reference=hedge%201&state=cancelled&created_before=${second.created_at}`)).toEqual([
      one,
    ]);
  });

  it("with insufficient funds are rejected, and hold nothing", async () => {
    expect(await buyer.placed(limit("buy", "1000", "100.01"))).toMatchObject({
      state: "rejected",
      failure: { code: "INSUFFICIENT_FUNDS" },
      version: 2,
    });
    expect(await buyer.balances()).toEqual({ USD: ["100000", "0"] });
  });

  it("have their own events, each with the order as of that event", async () => {
    const { id } = await buyer.placed(limit("buy", "10", "1"));
    await buyer.send("PATCH", `/v1/orders/${id}`, { size: "0.4" });
    await buyer.until(id, ({ size }) => size === "0.40");
    expect(await buyer.balances()).toEqual({ USD: ["99996", "4"] });
    await buyer.send("DELETE", `/v1/orders/${id}`);
    await buyer.until(id, ({ state }) => state === "cancelled");
    const { data } = (await buyer.send("GET", "/v1/events")).body as unknown as {
      data: { event: string; data: { order: { size: string; state: string; version: number } } }[];
    };
    expect(data.map(({ event, data: { order } }) => [event, order.version, order.state, order.size])).toEqual(
      [
        ["order.updated", 2, "open", "1.00"],
        ["order.updated", 3, "open", "0.40"],
        ["order.updated", 4, "cancelled", "0.40"],
      ],
    );
  });

  it("that spend an amount are filled when the rest does not buy a lot", async () => {
    await seller.placed(limit("sell", "300", "1"));
    await seller.placed(limit("sell", "301", "5"));
    const taken = await buyer.placed({ side: "buy", type: "market", quote_size: "1000" });
    // 1 at 300, then 2.32 at 301: the 1.68 that are left do not buy another 0.01.
    expect(taken).toMatchObject({ state: "filled", filled: "3.32", quote_filled: "998.32", size: null });
    expect((await buyer.balances())["USD"]).toEqual(["99001.68", "0"]);
    await seller.send("DELETE", `/v1/orders/${(await list(seller, "?state=partially_filled"))[0]?.id}`);
    await eventually(
      () => list(seller, "?state=partially_filled"),
      (found) => found.length === 0,
    );
  });

  it("end as requested: unfilled, not filled as a whole, not as a taker, nothing to take", async () => {
    const outcome = async (body: object) => {
      const { state, failure } = await buyer.placed(body);
      return [state, failure?.code];
    };
    expect(await outcome({ side: "buy", type: "market", quote_size: "10" })).toEqual([
      "rejected",
      "NO_LIQUIDITY",
    ]);
    const resting = await seller.placed(limit("sell", "50", "1"));
    expect(await outcome(limit("buy", "50", "2", { time_in_force: "fok" }))).toEqual([
      "rejected",
      "FOK_NOT_FILLABLE",
    ]);
    expect(await outcome(limit("buy", "50", "2", { time_in_force: "post_only" }))).toEqual([
      "rejected",
      "POST_ONLY_WOULD_CROSS",
    ]);
    expect(await outcome({ side: "buy", type: "market", quote_size: "0.49" })).toEqual([
      "rejected",
      "QUOTE_LIMIT_TOO_LOW",
    ]);
    expect(await outcome(limit("buy", "50", "2", { time_in_force: "ioc" }))).toEqual([
      "cancelled",
      "UNFILLED",
    ]);
    expect(await seller.read(resting.id)).toMatchObject({ state: "filled" });
    expect((await buyer.balances())["USD"]).toEqual(["99950", "0"]);
  });

  it("never match an order of the same tenant", async () => {
    await service.fund(seller.owner, "USD", "1000");
    const older = await seller.placed(limit("sell", "70", "1"));
    expect(await seller.placed(limit("buy", "70", "1", { self_trade: "cancel_oldest" }))).toMatchObject({
      state: "open",
    });
    expect(await seller.read(older.id)).toMatchObject({
      state: "cancelled",
      failure: { code: "SELF_TRADE" },
    });
    expect(await seller.balances()).toEqual({ ETH: ["100", "0"], USD: ["930", "70"] });
    const [{ id } = { id: "" }] = await list(seller, "?state=open");
    await seller.send("DELETE", `/v1/orders/${id}`);
    await seller.until(id, ({ state }) => state === "cancelled");
  });

  it("are refused if their terms do not match their market", async () => {
    const refusal = async (body: object) => {
      const { status, body: answer } = await buyer.place(body);
      return [status, answer.error?.code, answer.error?.details?.[0]?.path];
    };
    expect(await refusal({ ...limit("buy", "1", "1"), market: "ETH-EUR" })).toEqual([
      422,
      "MARKET_UNKNOWN",
      "body.market",
    ]);
    expect(await refusal(limit("buy", "1.5", "1"))).toEqual([422, "PRICE_NOT_IN_TICKS", "body.price"]);
    expect(await refusal(limit("buy", "1", "0.005"))).toEqual([422, "SIZE_NOT_IN_LOTS", "body.size"]);
    expect(await refusal(limit("buy", "-1", "1"))).toEqual([400, "INVALID_REQUEST", "body.price"]);
    expect(await refusal({ side: "buy", size: "1" })).toEqual([400, "INVALID_REQUEST", "body.price"]);
    expect(await refusal({ side: "buy", type: "market", size: "1" })).toEqual([
      400,
      "INVALID_REQUEST",
      "body.quote_size",
    ]);
    expect(await refusal({ ...limit("buy", "1", "1"), quote_size: "1" })).toEqual([
      400,
      "INVALID_REQUEST",
      "body.quote_size",
    ]);
    expect(await refusal({ ...limit("buy", "1", "1"), wallet_id: "wlt_01h455vb4pex5vsknk084sn02q" })).toEqual(
      [422, "WALLET_UNKNOWN", "body.wallet_id"],
    );
  });

  it("are placed once for a key that is sent many times, and refused with another body", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => buyer.place(limit("buy", "5", "1"), "once")),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect((await buyer.place(limit("buy", "5", "2"), "once")).body.error?.code).toBe(
      "IDEMPOTENCY_KEY_REUSED",
    );
    expect(
      (await buyer.send("POST", "/v1/orders", { market: "ETH-USD", ...limit("buy", "5", "1") })).body.error,
    ).toMatchObject({ code: "IDEMPOTENCY_KEY_MISSING" });
    expect(await list(buyer, "")).toHaveLength(1);
    const id = answers[0]?.body.id ?? "";
    await buyer.send("DELETE", `/v1/orders/${id}`);
    await buyer.until(id, ({ state }) => state === "cancelled");
    expect((await buyer.send("DELETE", `/v1/orders/${id}`)).status).toBe(202);
    expect((await buyer.send("PATCH", `/v1/orders/${id}`, { size: "0.5" })).body.error?.code).toBe(
      "ORDER_NOT_OPEN",
    );
  });

  it("can be reduced, but not below the filled size, and not increased; of several amendments the smallest counts", async () => {
    const { id } = await seller.placed(limit("sell", "3000", "1"));
    await buyer.placed(limit("buy", "3000", "0.3"));
    await seller.until(id, ({ filled }) => filled === "0.30");
    const amend = async (size: string) => {
      const { status, body } = await seller.send("PATCH", `/v1/orders/${id}`, { size });
      return [status, body.error?.details?.[0]?.reason];
    };
    expect(await amend("1")).toEqual([400, "is not less than the order's size"]);
    expect(await amend("0.3")).toEqual([400, "must be more than the filled part of the order"]);
    expect(await Promise.all(["0.5", "0.8", "0.7"].map(amend))).toContainEqual([202, undefined]);
    const amended = await seller.until(id, ({ size }) => size === "0.50");
    expect(amended).toMatchObject({ state: "partially_filled", remaining: "0.20" });
  });

  it("are cancelled when their wallet is frozen, and rejected while it is", async () => {
    const resting = await buyer.placed(limit("buy", "5", "1"));
    await buyer.send("POST", `/v1/wallets/${resting.wallet_id}/freeze`, {});
    await buyer.until(resting.id, ({ state }) => state === "cancelled");
    expect(await buyer.placed(limit("buy", "5", "1"))).toMatchObject({
      state: "rejected",
      failure: { code: "WALLET_FROZEN" },
    });
    expect(await buyer.balances()).toEqual({ USD: ["100000", "0"] });
  });

  it("have a table of their states", async () => {
    const { data } = (await buyer.send("GET", "/v1/order-states")).body as unknown as {
      data: { state: string; next: string[]; final: boolean }[];
    };
    expect(data.find(({ state }) => state === "open")).toMatchObject({
      final: false,
      next: ["partially_filled", "filled", "cancelled"],
    });
  });

  it("are found by market, state and side, a page at a time", async () => {
    const placed = [
      await buyer.placed(limit("buy", "5", "1")),
      await buyer.placed(limit("buy", "6", "1")),
      await buyer.placed(limit("sell", "7000", "1")),
    ];
    const ids = placed.map(({ id }) => id);
    expect((await list(buyer, "?state=open")).map(({ id }) => id)).toEqual([ids[1], ids[0]]);
    expect((await list(buyer, "?state=rejected&side=sell")).map(({ id }) => id)).toEqual([ids[2]]);
    expect(await list(buyer, "?market=USDC-USD")).toEqual([]);
    expect((await list(buyer, "?market=ETH-USD&limit=2")).map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect(await list(seller, "")).toEqual([]);
    for (const id of ids.slice(0, 2)) {
      await buyer.send("DELETE", `/v1/orders/${id}`);
      await buyer.until(id, ({ state }) => state === "cancelled");
    }
  });

  async function list(trader: Trader, query: string): Promise<{ id: string }[]> {
    return ((await trader.send("GET", `/v1/orders${query}`)).body as unknown as { data: { id: string }[] })
      .data;
  }
});
