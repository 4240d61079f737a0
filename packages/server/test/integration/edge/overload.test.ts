import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

/** The duration of one statement that accepts transactions. Two run concurrently, each with up to 256 rows. */
const slownessSeconds = 0.5;
const capacityPerSecond = (2 * 256) / slownessSeconds;
const loadSeconds = 4;
const batchSize = 256;

describe("a service with five times its capacity of requests", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService({
      "quotas.bulk_per_second": "100000",
      "quotas.bulk_burst": "100000",
      "limits.heavy_requests_per_tenant": "1000",
      "limits.accept_wait_ms": "1000",
    });
    await service.database.run(`
      CREATE FUNCTION slow_down() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_sleep(${slownessSeconds}); RETURN NULL; END $$;
      CREATE TRIGGER slow AFTER INSERT ON transactions FOR EACH STATEMENT EXECUTE FUNCTION slow_down();
    `);
  });
  afterAll(() => service.stop());

  it("refuses the tenant that sends them, serves its neighbour, reads and health checks, settles everything it accepted, and recovers", async () => {
    const owner = await service.createTenant("100000000");
    const token = await service.token(owner);
    const api = transactionsOf(service, token);
    const accepted: string[] = [];
    const refusals: Response[] = [];
    const sendBatch = async () => {
      const transactions = Array.from({ length: batchSize }, () => ({
        idempotency_key: randomUUID(),
        reference: "overload",
        asset: "USD",
        amount: "1",
      }));
      const response = await service.call("POST", "/v1/transactions/batch", token, { transactions });
      if (response.status === 503) return void refusals.push(response);
      expect(response.status).toBe(202);
      const { data } = (await response.json()) as {
        data: { status: string; transaction?: { id: string } }[];
      };
      for (const { transaction } of data) if (transaction !== undefined) accepted.push(transaction.id);
    };
    const others: number[] = [];
    const neighbour = transactionsOf(service, await service.token(await service.createTenant()));
    const neighbours: Promise<{ status: number }>[] = [];
    const sending: Promise<void>[] = [];
    const count = (5 * capacityPerSecond * loadSeconds) / batchSize;
    for (let sent = 0; sent < count; sent++) {
      sending.push(sendBatch());
      if (sent % 10 === 0) {
        others.push((await fetch(`${service.url}/healthz`)).status);
        others.push((await api.send("GET", "/v1/transactions?limit=1")).status);
        neighbours.push(neighbour.create({ reference: "neighbour", asset: "USD", amount: "1" }));
      }
      await sleep((loadSeconds * 1000) / count);
    }
    await Promise.all(sending);
    expect(new Set(others)).toEqual(new Set([200]));
    expect(new Set((await Promise.all(neighbours)).map(({ status }) => status))).toEqual(new Set([202]));
    expect(refusals.length).toBeGreaterThan(0);
    for (const refusal of refusals) {
      expect(refusal.headers.get("retry-after")).toBe("1");
      expect(await refusal.json()).toMatchObject({ error: { code: "OVERLOADED" } });
    }
    expect(accepted.length).toBeGreaterThan(0);

    // Back to normal: a new transaction is accepted, and every accepted one is settled.
    const { body } = await eventually(
      () => api.create({ reference: "after", asset: "USD", amount: "1" }),
      ({ status }) => status === 202,
    );
    expect(await api.settled(body.id)).toMatchObject({ state: "completed" });
    const unsettled = await eventually(
      async () => {
        const [row] = await service.database.query<{ count: string }>(
          sql`SELECT count(*) FROM open_transactions`,
        );
        return Number(row?.count);
      },
      (open) => open === 0,
    );
    expect(unsettled).toBe(0);
    const { settlement } = await api.balances();
    expect(settlement?.available).toBe(String(accepted.length + 1));
  });
});
