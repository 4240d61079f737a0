import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, expect, it } from "vitest";
import { listFailures, retryFailures } from "../../../src/store/core/rows/failures.js";
import { orderFailures } from "../../../src/store/markets/claim-orders.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, findViolations } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(async () => {
  expect(await findViolations(service)).toEqual([]);
  await service.stop();
});

it("an order that cannot be admitted lets the market go on, records its error, and is admitted once the cause is gone", async () => {
  const trader = await createTrader(service, { ETH: "100" });
  await service.database.run(`
    CREATE FUNCTION refuse_order() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''the order is unlucky''; END';
    CREATE TRIGGER refuse BEFORE UPDATE ON open_orders FOR EACH ROW
      WHEN (NEW.sequence IS NOT NULL AND OLD.sequence IS NULL AND NEW.size = 1313) EXECUTE FUNCTION refuse_order();
  `);
  const sizes = ["1", "1", "13.13", "1", "1", "1"];
  const answers = await Promise.all(sizes.map((size) => trader.place({ side: "sell", price: "4000", size })));
  const ids = answers.map(({ body }) => body.id);
  const unlucky = ids[2] ?? "";
  for (const id of ids.filter((one) => one !== unlucky))
    await trader.until(id, ({ state }) => state === "open");

  const failing = async () =>
    (await listFailures(service.database, orderFailures, 10)).find(({ id }) => id === readId("ord", unlucky));
  const row = await eventually(failing, (found) => found !== undefined);
  expect(row).toMatchObject({ lastError: "the order is unlucky" });
  expect(service.logLines.some((line) => line.includes(unlucky) && line.includes("admitted"))).toBe(true);

  await service.database.run("DROP TRIGGER refuse ON open_orders");
  await retryFailures(service.database, orderFailures, readId("ord", unlucky) ?? "", new Date());
  await trader.until(unlucky, ({ state }) => state === "open");
  expect(await failing()).toBeUndefined();
});
