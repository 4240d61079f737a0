import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, findViolations, type Trader, tradingAs } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

interface Listed {
  id: string;
  state: string;
  filled: string;
  wallet_id: string;
  failure: { code: string } | null;
}

describe("the orders of a wallet that is frozen", () => {
  let first: TestService;
  let second: TestService;
  beforeAll(async () => {
    first = await startTestService();
    second = await first.another();
  });
  afterAll(async () => {
    expect(await findViolations(first)).toEqual([]);
    await second.stop();
    await first.stop();
  });

  const sell = (price: number) => ({ side: "sell", price: String(price), size: "0.01" });
  const take = { side: "buy", price: "1000", size: "0.05", time_in_force: "ioc" };
  const list = async (trader: Trader, query = "") =>
    ((await trader.send("GET", `/v1/orders?limit=200${query}`)).body as unknown as { data: Listed[] }).data;

  it("do not trade after the freeze is answered, with takers at both services and new orders meanwhile", async () => {
    for (let round = 0; round < 5; round++) {
      const maker = await createTrader(first, { ETH: "10" });
      const taker = await createTrader(first, { USD: "100000" });
      const takers = [taker, await tradingAs(second, taker.owner)];
      await Promise.all(Array.from({ length: 100 }, (_, index) => maker.place(sell(100 + index))));
      // No buyer pays this price.
      const { id: resting, wallet_id: wallet } = await maker.placed(sell(2000));
      const load = { isOn: true };
      const repeat = async (act: () => Promise<unknown>) => {
        while (load.isOn) await act();
      };
      const acting = [
        ...takers.map((one) => repeat(() => one.place(take))),
        repeat(() => maker.place(sell(100))),
      ];
      await eventually(
        () => list(maker, "&state=filled"),
        (filled) => filled.length > 3,
      );
      expect((await maker.send("POST", `/v1/wallets/${wallet}/freeze`, {})).status).toBe(200);
      // Checked before any other request: nothing is held for an order any more.
      const atFreeze = await maker.balances();
      expect(atFreeze["ETH"]?.[1]).toBe("0");
      for (let count = 0; count < 10; count++) await taker.place(take);
      load.isOn = false;
      await Promise.all(acting);
      const orders = await eventually(
        () => list(maker),
        (found) => found.every(({ state }) => ["filled", "cancelled", "rejected"].includes(state)),
      );
      expect(await maker.balances()).toEqual(atFreeze);
      const ends = new Set(orders.map(({ state, failure }) => `${state} ${failure?.code ?? ""}`.trim()));
      for (const end of ends)
        expect(["filled", "cancelled WALLET_FROZEN", "rejected WALLET_FROZEN"]).toContain(end);
      expect(await maker.read(resting)).toMatchObject({
        state: "cancelled",
        failure: { code: "WALLET_FROZEN" },
      });
    }
  });

  /** Gives the market's lease to a process that does not exist, and lets it expire at the end. */
  const withoutMatching = async (act: () => Promise<void>) => {
    await first.database.query(sql`
      UPDATE markets SET holder = gen_random_uuid(), fence = fence + 1, expires_at = now() + interval '4 minutes' WHERE market = 'ETH-USD'
    `);
    await act();
    await first.database.query(sql`UPDATE markets SET expires_at = '-infinity' WHERE market = 'ETH-USD'`);
  };

  it("delay the response to the freeze while their market is not running", async () => {
    const maker = await createTrader(first, { ETH: "1" });
    const resting = await maker.placed(sell(900));
    const freeze = () => maker.send("POST", `/v1/wallets/${resting.wallet_id}/freeze`, {});
    await withoutMatching(async () => {
      const unanswered = await freeze();
      expect([unanswered.status, unanswered.body.error?.code]).toEqual([503, "UNAVAILABLE"]);
      const wallet = await maker.send("GET", `/v1/wallets/${resting.wallet_id}`);
      expect(wallet.body).toMatchObject({ frozen: true });
    });
    expect((await freeze()).status).toBe(200);
    expect(await maker.read(resting.id)).toMatchObject({
      state: "cancelled",
      failure: { code: "WALLET_FROZEN" },
    });
  });

  it("do not block a freeze that is undone meanwhile", async () => {
    const maker = await createTrader(first, { ETH: "1" });
    const { wallet_id: wallet } = await maker.placed(sell(900));
    await withoutMatching(async () => {
      const freezing = maker.send("POST", `/v1/wallets/${wallet}/freeze`, {});
      await eventually(
        () => maker.send("GET", `/v1/wallets/${wallet}`),
        ({ body }) => (body as unknown as { frozen: boolean }).frozen,
      );
      expect((await maker.send("POST", `/v1/wallets/${wallet}/unfreeze`, {})).status).toBe(200);
      expect(await freezing).toMatchObject({ status: 200, body: { frozen: false } });
    });
  });
});
