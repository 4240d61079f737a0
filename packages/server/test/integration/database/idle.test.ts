import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/core/database.js";
import { type Recording, recordStatements } from "../../harness/database/recorded-database.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

let service: TestService;
let statements = 0;
beforeAll(async () => {
  const counting = new Map() as Recording;
  counting.get = () => {
    statements += 1;
    return undefined;
  };
  const open: typeof openDatabase = (options) => recordStatements(openDatabase(options), counting);
  service = await startTestService({}, undefined, open);
});
afterAll(() => service.stop());

const windowMs = 6000;
/** An idle service asks some ten times a second; before it backed off, it was more than thirty. */
const perSecondMax = 15;

it("a service that is idle, and can be notified, asks the database a few times a second", async () => {
  const api = transactionsOf(service, await service.token(await service.createTenant("10")));
  const { body } = await api.create({ reference: "before", asset: "USD", amount: "1" });
  await api.settled(body.id);
  // A window that something else has disturbed is followed by one that nothing has.
  const asked = await eventually(
    async () => {
      const before = statements;
      await sleep(windowMs);
      return statements - before;
    },
    (count) => count <= (perSecondMax * windowMs) / 1000,
  );
  expect(asked).toBeGreaterThan(0);
  // What is accepted now is still settled at once, because it wakes the engine.
  const { body: next } = await api.create({ reference: "after", asset: "USD", amount: "1" });
  expect((await api.settled(next.id)).state).toBe("completed");
});
