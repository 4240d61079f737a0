import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { createTrader, findViolations, type Trader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

/** A trigger removes each cancellation at once, as a writer with the rights of the service's role can, for longer than a stop waits. */
describe("an order that is in a book when a stop is answered", () => {
  let service: TestService;
  let role: ServiceRole;
  beforeAll(async () => {
    service = await startTestService();
    role = await createServiceRole(service.database);
  });
  afterAll(async () => {
    await role?.drop();
    expect(await findViolations(service)).toEqual([]);
    await service.stop();
  });

  const stops = {
    "disabled client": async ({ owner }: Trader) => {
      await service.changeAsOperator(owner, { state: "disabled" });
    },
    "suspended tenant": async ({ owner }: Trader) => {
      await service.setTenantSuspended(owner, true);
    },
    "frozen wallet": async (maker: Trader, wallet: string) => {
      const { status } = await maker.send("POST", `/v1/wallets/${wallet}/freeze`, {});
      expect(status).toBe(503);
    },
  };

  it.each(Object.entries(stops))("does not trade any more: %s", async (_, stop) => {
    const maker = await createTrader(service, { ETH: "10" });
    const taker = await createTrader(service, { USD: "100000" });
    const { id, wallet_id: wallet } = await maker.placed({ side: "sell", price: "100", size: "1" });
    const keep = `keep_${id}`;
    await service.database.run(`
      CREATE FUNCTION ${keep}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.cancel_requested := false; RETURN NEW; END $$;
      CREATE TRIGGER ${keep} BEFORE UPDATE ON open_orders FOR EACH ROW WHEN (NEW.id = '${readId("ord", id)}') EXECUTE FUNCTION ${keep}()`);
    await stop(maker, wallet);
    await role.run(`DELETE FROM client_sweeps`);
    const taken = await taker.placed({ side: "buy", price: "100", size: "1", time_in_force: "ioc" });
    expect(taken).toMatchObject({ filled: "0.00" });
    await service.database.run(`DROP TRIGGER ${keep} ON open_orders; DROP FUNCTION ${keep}`);
  });
});
