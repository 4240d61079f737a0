import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createBacklogStore } from "../../../src/store/webhooks/delivery-backlogs.js";
import { createEndpointStore } from "../../../src/store/webhooks/webhook-endpoints.js";
import { type Recording, recordStatements } from "../../harness/database/recorded-database.js";
import { sealEndpoints } from "../../harness/database/seal-rows.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

describe("appending events", () => {
  const log = createEventLog({ publish: () => undefined });
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
    await service.service.stop();
  });
  afterAll(() => service.stop());

  const addEndpoints = (tenantIds: readonly string[], count: number, state = "enabled") =>
    service.database.query<{ id: string }>(sql`
      INSERT INTO webhook_endpoints (tenant_id, id, url, events, state, secret, version, created_at, updated_at)
      SELECT tenant_id, gen_random_uuid(), 'https://receiver.example', '{*}', ${state}, '', 1, now(), now()
      FROM unnest(${[...tenantIds]}::uuid[]) AS given (tenant_id), generate_series(1, ${count}::integer) RETURNING id
    `);
  const eventOf = (tenantId: string) => ({
    tenantId,
    event: "wallet.updated" as const,
    subjectId: randomUUID(),
    version: 2,
    state: "active",
    previousState: "creating",
    failureCode: null,
    occurredAt: new Date(),
  });
  const append = (tenantIds: readonly string[], database: Database = service.database) =>
    database.transaction((tx) => log.append(tx, tenantIds.map(eventOf)));
  const newTenants = (count: number) => Array.from({ length: count }, () => randomUUID());
  const countRows = async (tenantIds: readonly string[]) => {
    const [row] = await service.database.query<{ deliveries: number; backlogs: number }>(sql`
      SELECT (SELECT count(*)::integer FROM pending_deliveries WHERE tenant_id = ANY(${[...tenantIds]}::uuid[])) AS deliveries,
        (SELECT count(*)::integer FROM delivery_backlogs WHERE tenant_id = ANY(${[...tenantIds]}::uuid[])) AS backlogs
    `);
    return row;
  };

  it("delivers an event that has waited for the commit that enables the first endpoint", async () => {
    const [tenantId = ""] = newTenants(1);
    const [endpoint] = await addEndpoints([tenantId], 1, "disabled");
    let appended: Promise<void> | undefined;
    const waitsForLog = async () => {
      const waiting = await service.database.query(
        sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INTO event_sequences%'`,
      );
      return waiting.length > 0;
    };
    await sealEndpoints(service.database, service.keys);
    const keyed = withKeys(service.database, service.keys);
    await keyed.transaction(async (tx) => {
      const endpoints = createEndpointStore({ ...keyed, transaction: (work) => work(tx) }, log);
      const enable = () => ({ state: { to: "enabled" as const } });
      await endpoints.changeEndpoint(tenantId, endpoint?.id ?? "", enable, new Date(), undefined);
      appended = append([tenantId]);
      await eventually(waitsForLog, (isWaiting) => isWaiting);
    });
    await appended;
    expect(await countRows([tenantId])).toEqual({ deliveries: 1, backlogs: 0 });
  });

  it.each([1, 50])("takes three statements for any number of tenants, such as %i", async (count) => {
    const recording: Recording = new Map();
    await append(newTenants(count), recordStatements(service.database, recording));
    expect([...recording.values()].flat().length).toBeLessThanOrEqual(3);
  });

  it("numbers the events of each tenant without gaps, in the order in which they were given", async () => {
    const [first = "", second = ""] = newTenants(2);
    await append([first, second, first]);
    await append([second, first, second]);
    for (const tenantId of [first, second]) {
      const rows = await service.database.query<{ sequence: string }>(
        sql`SELECT sequence FROM events WHERE tenant_id = ${tenantId} ORDER BY occurred_at, sequence`,
      );
      expect(rows.map(({ sequence }) => Number(sequence))).toEqual([1, 2, 3]);
    }
  });

  it("defers a tenant with many deliveries, and none of the many tenants with few", async () => {
    const small = newTenants(400);
    const [large = ""] = newTenants(1);
    await addEndpoints(small, 3);
    await addEndpoints([large], 40);
    await append([...small, ...Array.from({ length: 50 }, () => large)]);
    expect(await countRows(small)).toEqual({ deliveries: 1200, backlogs: 0 });
    expect(await countRows([large])).toEqual({ deliveries: 0, backlogs: 1 });
  });

  it("leaves the room of tenants that have a backlog to others", async () => {
    const tenants = newTenants(60);
    await addEndpoints(tenants, 20);
    await append(tenants);
    expect(await countRows(tenants)).toEqual({ deliveries: 1000, backlogs: 10 });
    const others = newTenants(1);
    await addEndpoints(others, 20);
    const waiting = await service.database.query<{ id: string }>(
      sql`SELECT tenant_id AS id FROM delivery_backlogs WHERE tenant_id = ANY(${tenants}::uuid[])`,
    );
    const late = waiting.map(({ id }) => id);
    await append([...Array.from({ length: 6 }, () => late).flat(), ...others]);
    expect(await countRows(others)).toEqual({ deliveries: 20, backlogs: 0 });
  });

  it("ends the backlogs of many tenants in one step of the writer", async () => {
    await service.database.run("DELETE FROM delivery_backlogs");
    const tenants = newTenants(70);
    await addEndpoints(tenants, 20);
    await append(tenants);
    expect(await countRows(tenants)).toEqual({ deliveries: 1000, backlogs: 20 });
    const store = createBacklogStore(service.database);
    const first = await store.findBacklog(undefined);
    const { tenantIds } = await store.writeSome(first ?? "", 1000);
    expect(tenantIds.length).toBe(20);
    expect(await countRows(tenants)).toEqual({ deliveries: 1400, backlogs: 0 });
  });
});
