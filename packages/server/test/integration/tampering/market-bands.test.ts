import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeAct, nilTenantId } from "../../../src/app/audit/audit-entry.js";
import { sandboxMarkets } from "../../../src/config/market-list.js";
import { sql } from "../../../src/store/core/sql.js";
import { listMarkets, resumeMarket } from "../../../src/store/markets/halt-market.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { tamperedMarket } from "../../harness/markets/tampered-market.js";
import { createTrader, findViolations, type Trader } from "../../harness/markets/trader.js";
import { writeMarkets } from "../../harness/markets/wide-markets.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

/** The writer has the rights of the service's role, and no master key. */
describe("a price band that a writer to the database changes", () => {
  let service: TestService;
  let role: ServiceRole;
  let market: ReturnType<typeof tamperedMarket>;
  let maker: Trader;
  let taker: Trader;
  beforeAll(async () => {
    const file = writeMarkets(createTemporaryFolder("bands"), sandboxMarkets);
    service = await startTestService({ BURSAR_CONFIG: file });
    role = await createServiceRole(service.database);
    market = tamperedMarket(service, role);
    maker = await createTrader(service, { ETH: "10" });
    taker = await createTrader(service, { USD: "100000" });
  });
  afterAll(async () => {
    await role?.drop();
    expect(await findViolations(service)).toEqual([]);
    await service.stop();
  });

  const haltReason = async () =>
    (await listMarkets(service.database)).find((one) => one.market === "ETH-USD")?.haltedReason ?? undefined;
  const bandOf = async () =>
    (
      await service.database.query<{ band: { reference: number; prices: unknown[] } | null }>(
        sql`SELECT band FROM markets WHERE market = 'ETH-USD'`,
      )
    )[0]?.band;
  const trade = async (price: string) => {
    await maker.placed({ side: "sell", price, size: "0.01" });
    expect(await taker.placed({ side: "buy", price, size: "0.01" })).toMatchObject({ state: "filled" });
  };
  const resume = () => {
    const at = new Date();
    const entry = describeAct({ by: "operator", tenantId: nilTenantId }, "market.resume", "ETH-USD", at);
    return resumeMarket(service.keyed, "ETH-USD", entry);
  };

  it("halts its market, and begins again at the reference price when an operator resumes it", async () => {
    await trade("3100");
    const band = await bandOf();
    expect(band?.prices).toHaveLength(2);
    // Another process that takes the market over goes on with the band of the service.
    await market.reload();
    await trade("3101");
    expect(await haltReason()).toBeUndefined();

    const { id } = await maker.placed({ side: "sell", price: "3200", size: "0.01" });
    const prices = [1, 2, 3, 4, 5].map((n) => [`00000000-0000-4000-8000-00000000000${n}`, 1]);
    const forged = JSON.stringify({ reference: band?.reference, prices });
    await market.pause();
    await role.run(`UPDATE markets SET band = '${forged}' WHERE market = 'ETH-USD'`);
    await market.resume();
    await maker.send("DELETE", `/v1/orders/${id}`);
    const outcome = await eventually(
      async () =>
        (await haltReason()) ??
        ((await maker.place({ side: "sell", price: "1", size: "1" })).status === 202
          ? "accepted"
          : undefined),
      (found) => found !== undefined,
    );
    expect(outcome).toContain("The price band of ETH-USD was changed in the database");

    expect(await resume()).toBe("resumed");
    await maker.until(id, ({ state }) => state === "cancelled");
    expect((await maker.place({ side: "sell", price: "1", size: "1" })).body.error?.code).toBe(
      "PRICE_OUT_OF_BAND",
    );
    await trade("3000");
    expect(await bandOf()).toMatchObject({
      prices: [
        [expect.anything(), 3000],
        [expect.anything(), 3000],
      ],
    });
    await market.reload();
    await trade("3000");
    expect(await haltReason()).toBeUndefined();
  });
});
