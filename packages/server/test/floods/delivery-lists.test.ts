import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { scannedRowsMax } from "../../src/app/requests/listed.js";
import { createDeliveryStore } from "../../src/store/webhooks/webhook-deliveries.js";
import { type Recording, recordStatements } from "../harness/database/recorded-database.js";
import { rowsReadBy } from "../harness/database/rows-read.js";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";

const [tenantId, endpointId] = [randomUUID(), randomUUID()];
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** As many deliveries wait for the endpoint, and as many are done; only the first one is of another kind. */
async function growTo(rows: number): Promise<void> {
  const columns = (n: string) =>
    `'${tenantId}', uuidv7((${n} - 100000) * interval '1 second'), '${endpointId}', ${n}, CASE ${n} WHEN 1 THEN 'wallet.updated' ELSE 'transaction.updated' END`;
  await database.session(async (session) => {
    await session.script(`
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
        SELECT ${columns("n")}, now() FROM generate_series(
          (SELECT count(*) + 1 FROM pending_deliveries), ${rows}) n;
      INSERT INTO finished_deliveries (tenant_id, id, endpoint_id, sequence, event, state, finished_at, attempts)
        SELECT ${columns("n")}, 'delivered', now(), '[]' FROM generate_series(
          (SELECT count(*) + 1 FROM finished_deliveries), ${rows}) n`);
    await session.script("ANALYZE pending_deliveries");
    await session.script("ANALYZE finished_deliveries");
  });
}

// The number of rows decides which index PostgreSQL takes for the cheapest.
it.each([5000, 12_000, 25_000, 40_000])(
  "a page of an endpoint's deliveries of one kind reads a bounded number of rows, of %i that wait",
  async (rows) => {
    await growTo(rows);
    const recording: Recording = new Map();
    const deliveries = createDeliveryStore(recordStatements(database, recording));
    for (const state of [undefined, "pending", "delivered"] as const) {
      recording.clear();
      const filter = { endpointId, event: "wallet.updated", ...(state === undefined ? {} : { state }) };
      await deliveries.listDeliveries(tenantId, filter as never, 51, undefined);
      // Of two tables, and twice, because the page has to say where it ends.
      expect(await rowsReadBy(database, recording), state).toBeLessThanOrEqual(4 * scannedRowsMax + 51);
    }
  },
);
