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

/** What a matching engine claims at once, and more than that. */
const batchMax = 256;
const restingCount = 300;

it("amendments that never end do not keep out new orders, not even those of their own tenant", async () => {
  await Promise.all(
    Array.from({ length: restingCount }, (_, index) =>
      trader.placed({ side: "sell", price: String(4000 + index), size: "3" }),
    ),
  );
  // As soon as an amendment is admitted, its client asks for the next one. Of a new order it is noted how far the market was.
  await service.database.run(`
    CREATE FUNCTION amend_again() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF OLD.amend_size IS NOT NULL AND NEW.amend_size IS NULL AND NEW.size > 2 THEN NEW.amend_size := NEW.size - 1; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER amend_again BEFORE UPDATE ON open_orders FOR EACH ROW EXECUTE FUNCTION amend_again();
    CREATE TABLE accepted_at (id uuid, sequence bigint);
    CREATE FUNCTION note_sequence() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO accepted_at SELECT NEW.id, admitted_sequence FROM markets WHERE market = NEW.market;
      RETURN NEW;
    END $$;
    CREATE TRIGGER note_sequence AFTER INSERT ON open_orders FOR EACH ROW EXECUTE FUNCTION note_sequence()`);
  const tenantId = readId("tnt", trader.owner.tenantId);
  await service.database.query(
    sql`UPDATE open_orders SET amend_size = size - 1 WHERE tenant_id = ${tenantId} AND sequence IS NOT NULL`,
  );
  const { id, state } = await trader.placed({ side: "buy", price: "100", size: "1" });
  expect(state).toBe("open");
  const [waited] = await service.database.query<{ commands: number }>(sql`
    SELECT (o.sequence - a.sequence)::int AS commands FROM open_orders o JOIN accepted_at a USING (id)
    WHERE o.id = ${readId("ord", id)}
  `);
  // The batch that was under way, one in which changes were first, and its own.
  expect(waited?.commands).toBeGreaterThan(0);
  expect(waited?.commands).toBeLessThanOrEqual(3 * batchMax);
  await service.database.run("DROP TRIGGER note_sequence ON open_orders; DROP TABLE accepted_at");
  await service.database.run("DROP TRIGGER amend_again ON open_orders");
});
