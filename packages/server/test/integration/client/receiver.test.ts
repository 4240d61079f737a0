import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createBursar } from "@bursar/client";
import {
  createPostgresStore,
  createReceiver,
  type SqlTransaction,
  toNodeHandler,
} from "@bursar/client/webhooks";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { sharedService } from "../../harness/service/shared-service.js";

describe("a receiver with PostgreSQL and a service", () => {
  let database: TestDatabase;
  let pool: pg.Pool;

  beforeAll(async () => {
    database = await createTestDatabase("empty");
    pool = new pg.Pool({ connectionString: database.url, max: 4 });
    await pool.query("CREATE TABLE booked (transaction_id text, version integer)");
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  it("books every payment once, from deliveries and from the log, and can be shared", async () => {
    const service = await sharedService();
    const { clientId, secret } = await service.createTenant("1000");
    const bursar = createBursar({ baseUrl: service.url, credentials: { clientId, secret } });
    let secrets: string[] = [];
    const stores = [createPostgresStore(pool), createPostgresStore(pool)];
    await Promise.all(stores.map((store) => store.prepare()));
    const receivers = stores.map((store) =>
      createReceiver<SqlTransaction>({
        secrets: () => secrets,
        store,
        handle: async (notification, sql) => {
          if (notification.event !== "transaction.updated") return;
          const { id, version } = notification.data.transaction;
          await sql.query("INSERT INTO booked VALUES ($1, $2)", [id, version]);
        },
      }),
    );
    const [first, second] = receivers;
    if (first === undefined || second === undefined) throw new Error("two receivers");
    const [firstHandler, secondHandler] = [toNodeHandler(first), toNodeHandler(second)];
    let turn = 0;
    const server = createServer((request, response) =>
      (turn++ % 2 === 0 ? firstHandler : secondHandler)(request, response),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;

    // What happens before there is an endpoint is only in the log.
    const early = await bursar.transactions.create({ reference: "early", asset: "USD", amount: "1" });
    await bursar.transactions.waitFor(early.id);
    const endpoint = await bursar.webhookEndpoints.create({ url });
    secrets = [endpoint.secret ?? ""];
    expect((await bursar.webhookEndpoints.verify(endpoint.id)).verified).toBe(true);
    const ids = [early.id];
    for (let at = 0; at < 20; at++) {
      const { id } = await bursar.transactions.create({ reference: `late-${at}`, asset: "USD", amount: "1" });
      ids.push(id);
    }
    const booked = async () =>
      (await pool.query("SELECT transaction_id FROM booked ORDER BY transaction_id")).rows.map(
        (row: { transaction_id: string }) => row.transaction_id,
      );
    await eventually(booked, (rows) => rows.length >= 20);
    await first.backfill(bursar, { since: 0 });
    expect(await eventually(booked, (rows) => rows.length >= 21)).toEqual([...ids].sort());
    expect(await second.backfill(bursar)).toBe(0);
    expect(await first.missing(bursar)).toEqual([]);
    server.close();
    server.closeAllConnections();
    await bursar.webhookEndpoints.delete(endpoint.id);
  });
});
