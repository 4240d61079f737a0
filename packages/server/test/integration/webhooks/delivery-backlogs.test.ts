import { randomUUID } from "node:crypto";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createBacklogStore } from "../../../src/store/webhooks/delivery-backlogs.js";
import { createEndpointStore } from "../../../src/store/webhooks/webhook-endpoints.js";
import { sealEndpoints } from "../../harness/database/seal-rows.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";
import { startWebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";

const endpointCount = 40;

describe("deliveries that are too many for one statement", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    // Writes down how many deliveries each SQL transaction inserts.
    await service.database.run(`
      CREATE TABLE inserted (tx bigint, deliveries bigint);
      CREATE FUNCTION count_inserted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        'BEGIN INSERT INTO inserted SELECT txid_current(), count(*) FROM new_rows; RETURN NULL; END';
      CREATE TRIGGER count_inserted AFTER INSERT ON pending_deliveries REFERENCING NEW TABLE AS new_rows
        FOR EACH STATEMENT EXECUTE FUNCTION count_inserted()`);
  });
  afterAll(() => service.stop());

  const addEndpoints = async (tenantId: string, url: string) => {
    await service.database.run(`
      INSERT INTO webhook_endpoints (tenant_id, id, url, events, state, secret, version, created_at, updated_at)
        SELECT '${tenantId}', gen_random_uuid(), '${url}/' || n, '{*}', 'enabled', '', 1, now(), now()
        FROM generate_series(1, ${endpointCount}) n;
      INSERT INTO webhook_leases SELECT tenant_id, id, NULL, 0, '-infinity' FROM webhook_endpoints ON CONFLICT DO NOTHING`);
    await sealEndpoints(service.database, service.keys);
    const rows = await service.database.query<{ id: string }>(
      sql`SELECT id FROM webhook_endpoints WHERE tenant_id = ${tenantId} ORDER BY id`,
    );
    return rows.map(({ id }) => id);
  };

  const countInserted = async () => {
    const [row] = await service.database.query<{ most: string; total: string }>(sql`
      SELECT coalesce(max(of_tx), 0) AS most, coalesce(sum(of_tx), 0) AS total
      FROM (SELECT sum(deliveries) AS of_tx FROM inserted GROUP BY tx) AS txs
    `);
    return { most: Number(row?.most), total: Number(row?.total) };
  };

  it("are written in transactions of a bounded size, one for each event and endpoint", async () => {
    const receiver = await startWebhookReceiver();
    const tenant = await service.createTenant("1000");
    const tenantId = readId("tnt", tenant.tenantId) ?? "";
    await addEndpoints(tenantId, receiver.url);
    const api = transactionsOf(service, await service.token(tenant));
    const items = Array.from({ length: 100 }, (_, index) => ({
      ...{ idempotency_key: `key-${index}`, reference: `r${index}`, asset: "USD", amount: "1" },
    }));
    await api.send("POST", "/v1/transactions/batch", { transactions: items });
    const expected = items.length * endpointCount;
    await eventually(countInserted, ({ total }) => total >= expected);
    const { most, total } = await countInserted();
    expect(total).toBe(expected);
    expect(most).toBeLessThanOrEqual(1000);
    const [row] = await service.database.query<{ pairs: string; backlogs: string }>(sql`
      SELECT (SELECT count(DISTINCT (endpoint_id, sequence)) FROM pending_deliveries WHERE tenant_id = ${tenantId}) AS pairs,
        (SELECT count(*) FROM delivery_backlogs) AS backlogs
    `);
    // Their secrets cannot be opened, so none of them is sent and all stay pending.
    expect(Number(row?.pairs)).toBe(expected);
    await eventually(
      () => service.database.query(sql`SELECT FROM delivery_backlogs`),
      (rows) => rows.length === 0,
    );
    await receiver.stop();
  });

  describe("and are written later", () => {
    const log = createEventLog({ publish: () => undefined });
    let tenantId: string;
    let endpoints: string[];
    beforeAll(async () => {
      tenantId = readId("tnt", (await service.createTenant("1")).tenantId) ?? "";
      // What the tests append is expanded by themselves.
      await service.service.stop();
      endpoints = await addEndpoints(tenantId, "https://receiver.example");
    });

    const append = (count: number) =>
      service.database.transaction((tx) =>
        log.append(
          tx,
          Array.from({ length: count }, () => ({
            tenantId,
            event: "wallet.updated" as const,
            subjectId: randomUUID(),
            version: 2,
            state: "active",
            previousState: "creating",
            failureCode: null,
            occurredAt: new Date(),
          })),
        ),
      );
    const head = async () => {
      const [row] = await service.database.query<{ sequence: string }>(
        sql`SELECT sequence FROM event_sequences WHERE tenant_id = ${tenantId}`,
      );
      return Number(row?.sequence);
    };
    const sequencesOf = async (endpointId: string | undefined) => {
      const rows = await service.database.query<{ sequence: string }>(
        sql`SELECT sequence FROM pending_deliveries WHERE endpoint_id = ${endpointId} ORDER BY sequence`,
      );
      return rows.map(({ sequence }) => Number(sequence));
    };
    const range = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const writeAll = async () => {
      const store = createBacklogStore(service.database);
      while ((await store.findBacklog(undefined)) !== undefined) await store.writeSome(tenantId, 1000);
    };
    const change = (endpointId: string | undefined, what: object) =>
      createEndpointStore(withKeys(service.database, service.keys), log).changeEndpoint(
        tenantId,
        endpointId ?? "",
        () => what,
        new Date(),
        undefined,
      );

    it("go to the endpoints that were subscribed when their events happened", async () => {
      const [kept, disabled, filtered, paused] = endpoints;
      await append(100);
      const first = await head();
      await change(disabled, { state: { to: "disabled", reason: "requested" } });
      await change(filtered, { events: ["transaction.updated"] });
      await change(paused, { state: { to: "disabled", reason: "requested" } });
      await append(100);
      await change(paused, { state: { to: "enabled" } });
      const second = await head();
      await append(100);
      const last = await head();
      await writeAll();
      expect(await sequencesOf(kept)).toEqual(range(first - 99, last));
      expect(await sequencesOf(disabled)).toEqual(range(first - 99, first));
      // They were still told that the one before them was disabled.
      expect(await sequencesOf(filtered)).toEqual(range(first - 99, first + 1));
      expect(await sequencesOf(paused)).toEqual([
        ...range(first - 99, first + 1),
        ...range(second + 1, last),
      ]);
      expect(await service.database.query(sql`SELECT FROM past_subscriptions`)).toEqual([]);
    });

    it("are followed by those of later events, and never overtaken by them", async () => {
      await append(100);
      // Few enough to be written at once, if nothing were waiting.
      await append(1);
      const last = await head();
      expect((await sequencesOf(endpoints[0])).at(-1)).toBe(last - 101);
      await writeAll();
      expect((await sequencesOf(endpoints[0])).slice(-101)).toEqual(range(last - 100, last));
      await append(1);
      expect((await sequencesOf(endpoints[0])).at(-1)).toBe(last + 1);
    });

    it("are complete when events are appended while they are written", async () => {
      const before = await head();
      let isWriting = true;
      const writing = (async () => {
        const store = createBacklogStore(service.database);
        while (isWriting) await store.writeSome(tenantId, 1000);
      })();
      for (let round = 0; round < 30; round++) await append(round % 3 === 0 ? 60 : 1);
      isWriting = false;
      await writing;
      await writeAll();
      expect((await sequencesOf(endpoints[5])).filter((sequence) => sequence > before)).toEqual(
        range(before + 1, await head()),
      );
    });
  });
});
