import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { type RetentionFailure, removeOldDeliveries } from "../../../src/store/webhooks/webhook-retention.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

const dayMs = 86_400_000;

describe("old deliveries", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const addEndpoint = async (tenantId: string, state: string) => {
    const id = randomUUID();
    await database.query(sql`
      INSERT INTO webhook_endpoints (tenant_id, id, url, events, state, secret, version, created_at, updated_at)
      VALUES (${tenantId}, ${id}, 'https://receiver.example', '{*}', ${state}, '', 1, now(), now())
    `);
    return id;
  };
  /** Inserts deliveries whose ids have a time in the past. */
  const add = async (
    table: "pending" | "finished",
    tenantId: string,
    endpointId: string,
    ageMs: number,
    count: number,
  ) => {
    const time = (Date.now() - ageMs).toString(16).padStart(12, "0");
    const id = sql`(${`${time.slice(0, 8)}-${time.slice(8)}-7`} || substr(gen_random_uuid()::text, 16))::uuid`;
    await database.query(
      table === "pending"
        ? sql`INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
              SELECT ${tenantId}, ${id}, ${endpointId}, n, 'transaction.updated', now() FROM generate_series(1, ${count}::integer) n`
        : sql`INSERT INTO finished_deliveries (tenant_id, id, endpoint_id, sequence, event, state, finished_at, attempts)
              SELECT ${tenantId}, ${id}, ${endpointId}, n, 'transaction.updated', 'delivered', now(), '[]' FROM generate_series(1, ${count}::integer) n`,
    );
  };
  const count = async (table: "pending" | "finished", tenantId: string) => {
    const from = table === "pending" ? sql`pending_deliveries` : sql`finished_deliveries`;
    const [row] = await database.query<{ count: string }>(
      sql`SELECT count(*) FROM ${from} WHERE tenant_id = ${tenantId}`,
    );
    return Number(row?.count);
  };
  const remove = (isStopping = () => false, failed: RetentionFailure[] = []) =>
    removeOldDeliveries(database, {
      before: new Date(Date.now() - 30 * dayMs),
      isStopping,
      onFailure: (failure) => failed.push(failure),
    });

  const refuseDeletesOf = (condition: string, table = "finished_deliveries") =>
    database.session((session) =>
      session.script(`
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'this row cannot be removed'; END $$;
        CREATE TRIGGER refuse BEFORE DELETE ON ${table} FOR EACH ROW WHEN (OLD.${condition}) EXECUTE FUNCTION refuse();
      `),
    );
  const allowDeletes = () => database.session((session) => session.script("DROP FUNCTION refuse() CASCADE"));

  it("are removed for every tenant, in more than one batch, and the others stay", async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const [endpoint, foreign] = [await addEndpoint(one, "enabled"), await addEndpoint(other, "disabled")];
    await add("finished", one, endpoint, 31 * dayMs, 2300);
    await add("finished", one, endpoint, 29 * dayMs, 40);
    await add("finished", other, foreign, 40 * dayMs, 7);
    await add("pending", other, foreign, 40 * dayMs, 5);
    await add("pending", other, foreign, dayMs, 3);
    expect(await remove()).toBe(2312);
    expect(await count("finished", one)).toBe(40);
    expect([await count("finished", other), await count("pending", other)]).toEqual([0, 3]);
    expect(await remove()).toBe(0);
  });

  it("that wait for a deleted endpoint are removed at any age", async () => {
    const tenantId = randomUUID();
    const [kept, deleted] = [await addEndpoint(tenantId, "enabled"), await addEndpoint(tenantId, "deleted")];
    await add("pending", tenantId, kept, 0, 10);
    await add("pending", tenantId, deleted, 0, 1200);
    await remove();
    expect(await count("pending", tenantId)).toBe(10);
  });

  it("that cannot be removed are named and hold up neither the others nor other tenants", async () => {
    const tenants = [randomUUID(), randomUUID()].sort();
    for (const tenantId of tenants)
      await add("finished", tenantId, await addEndpoint(tenantId, "enabled"), 31 * dayMs, 1100);
    const [first = ""] = tenants;
    const bad = await database.query<{ id: string }>(sql`
      UPDATE finished_deliveries SET event = 'stuck'
      WHERE tenant_id = ${first} AND sequence IN (1, 700) RETURNING id
    `);
    await refuseDeletesOf("event = 'stuck'");
    const failed: RetentionFailure[] = [];
    expect(await remove(undefined, failed)).toBe(2198);
    expect(failed.map(({ tenantId, id }) => `${tenantId} ${id}`).sort()).toEqual(
      bad.map(({ id }) => `${first} ${id}`).sort(),
    );

    await allowDeletes();
    expect(await remove()).toBe(2);
  });

  it("are removed although the counts of old hours cannot be", async () => {
    const tenantId = randomUUID();
    await add("finished", tenantId, await addEndpoint(tenantId, "enabled"), 31 * dayMs, 5);
    await database.query(sql`
      INSERT INTO webhook_hours (tenant_id, endpoint_id, start, attempts, delivered, exhausted, latency_ms, latency_ms_max)
      VALUES (${tenantId}, ${randomUUID()}, now() - interval '31 days', 0, 0, 0, 0, 0)
    `);
    await refuseDeletesOf(`tenant_id = '${tenantId}'`, "webhook_hours");
    const failed: RetentionFailure[] = [];
    expect(await remove(undefined, failed)).toBe(5);
    expect(failed).toEqual([{}]);
    await allowDeletes();
  });

  it("of a tenant whose rows all fail are left to the next run, and other tenants are processed", async () => {
    const [broken, other] = [randomUUID(), randomUUID()].sort() as [string, string];
    for (const tenantId of [broken, other])
      await add("finished", tenantId, await addEndpoint(tenantId, "enabled"), 31 * dayMs, 30);
    await refuseDeletesOf(`tenant_id = '${broken}'`);
    const failed: RetentionFailure[] = [];
    expect(await remove(undefined, failed)).toBe(30);
    expect(failed.at(-1)).toEqual({ tenantId: broken });
    expect(await count("finished", other)).toBe(0);
    await allowDeletes();
    expect(await remove()).toBe(30);
  });

  it("of a tenant whose statements take too long are left to the next run, and other tenants are processed", async () => {
    const tenants = [randomUUID(), randomUUID(), randomUUID()].sort();
    const [slow = "", ...others] = tenants;
    for (const tenantId of tenants)
      await add("finished", tenantId, await addEndpoint(tenantId, "enabled"), 31 * dayMs, 3);
    await database.run(`
      CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN OLD; END $$;
      CREATE TRIGGER dawdle BEFORE DELETE ON finished_deliveries FOR EACH ROW
        WHEN (OLD.tenant_id = '${slow}') EXECUTE FUNCTION dawdle();
    `);
    const impatient = openDatabase({ url: database.url, connectionsMax: 1, statementTimeoutMs: 4000 });
    const failed: RetentionFailure[] = [];
    await removeOldDeliveries(impatient, {
      before: new Date(Date.now() - 30 * dayMs),
      isStopping: () => false,
      onFailure: (failure) => failed.push(failure),
    });
    expect(failed).toEqual([{ tenantId: slow }]);
    for (const tenantId of others) expect(await count("finished", tenantId)).toBe(0);
    await impatient.close();
    await database.run("DROP FUNCTION dawdle() CASCADE");
    expect(await remove()).toBe(3);
  });

  it("keep their endpoint when it is deleted, which goes with the last of them", async () => {
    const tenantId = randomUUID();
    const endpointId = await addEndpoint(tenantId, "deleted");
    await database.query(
      sql`INSERT INTO webhook_leases VALUES (${tenantId}, ${endpointId}, NULL, 0, '-infinity')`,
    );
    const left = async () => {
      const [row] = await database.query<{ endpoints: number; leases: number }>(sql`
        SELECT (SELECT count(*)::integer FROM webhook_endpoints WHERE tenant_id = ${tenantId}) AS endpoints,
          (SELECT count(*)::integer FROM webhook_leases WHERE tenant_id = ${tenantId}) AS leases
      `);
      return [row?.endpoints, row?.leases];
    };
    await add("finished", tenantId, endpointId, 29 * dayMs, 1);
    await remove();
    expect(await left()).toEqual([1, 1]);
    await database.query(sql`DELETE FROM finished_deliveries WHERE tenant_id = ${tenantId}`);
    // More deliveries may still be written for it.
    await database.query(sql`INSERT INTO delivery_backlogs VALUES (${tenantId}, 0)`);
    await remove();
    expect(await left()).toEqual([1, 1]);
    await database.query(sql`DELETE FROM delivery_backlogs WHERE tenant_id = ${tenantId}`);
    await add("pending", tenantId, endpointId, 0, 3);
    await remove();
    expect(await left()).toEqual([0, 0]);
    expect(await count("pending", tenantId)).toBe(0);
  });

  it("of a tenant without endpoints are removed too", async () => {
    const tenantId = randomUUID();
    await add("pending", tenantId, randomUUID(), 31 * dayMs, 2);
    await remove();
    expect(await count("pending", tenantId)).toBe(0);
  });

  it("stay until the next run if the service stops", async () => {
    const tenantId = randomUUID();
    await add("finished", tenantId, await addEndpoint(tenantId, "enabled"), 31 * dayMs, 5);
    expect(await remove(() => true)).toBe(0);
    expect(await count("finished", tenantId)).toBe(5);
  });
});
