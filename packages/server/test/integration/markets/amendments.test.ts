import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createTrader, findViolations, type Trader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

let service: TestService;
let trader: Trader;
beforeAll(async () => {
  service = await startTestService();
  trader = await createTrader(service, { ETH: "1000", USD: "1000" });
});
afterAll(async () => {
  expect(await findViolations(service)).toEqual([]);
  await service.stop();
});

/** More than a matching engine claims at once. */
const restingCount = 300;

it("amendments that never end do not keep out new orders, not even those of their own tenant", async () => {
  await Promise.all(
    Array.from({ length: restingCount }, (_, index) =>
      trader.placed({ side: "sell", price: String(4000 + index), size: "3" }),
    ),
  );
  // As soon as an amendment is admitted, its client asks for the next one.
  await service.database.run(`
    CREATE FUNCTION amend_again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF OLD.amend_size IS NOT NULL AND NEW.amend_size IS NULL AND NEW.size > 2 THEN NEW.amend_size := NEW.size - 1; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER amend_again BEFORE UPDATE ON open_orders FOR EACH ROW EXECUTE FUNCTION amend_again()`);
  const tenantId = readId("tnt", trader.owner.tenantId);
  await service.database.query(
    sql`UPDATE open_orders SET amend_size = size - 1 WHERE tenant_id = ${tenantId} AND sequence IS NOT NULL`,
  );
  const waiting = () =>
    service.database.query(sql`SELECT FROM open_orders WHERE amend_size IS NOT NULL LIMIT 1`);
  const placed = await trader.placed({ side: "buy", price: "100", size: "1" });
  expect(placed.state).toBe("open");
  expect(await waiting()).toHaveLength(1);
  await service.database.run("DROP TRIGGER amend_again ON open_orders");
});
