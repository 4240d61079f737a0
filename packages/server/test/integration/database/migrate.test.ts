import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AuditDraft } from "../../../src/app/audit/audit-entry.js";
import type { WebhookEndpoint } from "../../../src/app/webhooks/endpoint.js";
import { openDatabase, withKeys } from "../../../src/store/core/database.js";
import { migrate } from "../../../src/store/core/schema/migrate.js";
import { type Migration, readMigrations } from "../../../src/store/core/schema/migrations.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createEndpointStore } from "../../../src/store/webhooks/webhook-endpoints.js";
import { keys } from "../../harness/access/segments.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

describe("migrating", () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase("empty");
  });
  afterEach(() => database.drop());

  const all = readMigrations();
  const next = (sql: string): Migration => ({
    number: all.length + 1,
    name: `${String(all.length + 1).padStart(4, "0")}_next.sql`,
    sql,
    checksum: sql,
  });
  const appliedNames = async () =>
    (await database.query<{ name: string }>(sql`SELECT name FROM schema_migrations ORDER BY number`)).map(
      (row) => row.name,
    );

  it("applies each missing migration once", async () => {
    expect(await migrate(database, all)).toEqual(all.map((migration) => migration.name));
    expect(await migrate(database, all)).toEqual([]);
    const added = next("CREATE TABLE added ()");
    expect(await migrate(database, [...all, added])).toEqual([added.name]);
  });

  it("works if several processes start concurrently", async () => {
    const slow = next("CREATE TABLE added (); SELECT pg_sleep(0.1)");
    const results = await Promise.all(Array.from({ length: 4 }, () => migrate(database, [...all, slow])));
    expect(results.flat().filter((name) => name === slow.name)).toHaveLength(1);
    expect(await appliedNames()).toEqual([...all.map((migration) => migration.name), slow.name]);
  });

  it("leaves the schema at the last migration before one that fails", async () => {
    const broken = next("CREATE TABLE half (); SELECT 1/0");
    await expect(migrate(database, [...all, broken])).rejects.toThrow(`migration ${broken.name} failed`);
    expect(await appliedNames()).toEqual(all.map((migration) => migration.name));
    expect(await database.query(sql`SELECT to_regclass('half') AS half`)).toEqual([{ half: null }]);
  });

  it("gives existing clients the scopes that were split from those that they had", async () => {
    const split = all.findIndex(({ name }) => name.endsWith("_split_scopes.sql"));
    await migrate(database, all.slice(0, split));
    const tenantId = "018f0000-0000-7000-8000-000000000001";
    await database.query(sql`INSERT INTO tenants (id, name, created_at) VALUES (${tenantId}, 'old', now())`);
    for (const scopes of [["policies:manage", "audit:read"], ["wallets:write"], ["wallets:read"], []]) {
      await database.query(sql`
        INSERT INTO clients (id, tenant_id, name, scopes, state, require_signature, created_at, updated_at)
        VALUES (gen_random_uuid(), ${tenantId}, ${scopes.join(" ") || "none"}, ${scopes}, 'active', false, now(), now())
      `);
    }
    await migrate(database, all);
    const rows = await database.query<{ name: string; scopes: string[] }>(
      sql`SELECT name, scopes FROM clients`,
    );
    expect(new Map(rows.map(({ name, scopes }) => [name, scopes]))).toEqual(
      new Map([
        [
          "policies:manage audit:read",
          ["policies:manage", "audit:read", "policies:read", "destinations:manage"],
        ],
        ["wallets:write", ["wallets:write", "wallets:freeze", "wallets:unfreeze"]],
        ["wallets:read", ["wallets:read"]],
        ["none", []],
      ]),
    );
  });

  it("keeps the keys of requests that have created webhook endpoints", async () => {
    const removed = all.findIndex(({ name }) => name.endsWith("_removed_endpoints.sql"));
    await migrate(database, all.slice(0, removed));
    const [tenantId, id, clientId] = [randomUUID(), randomUUID(), randomUUID()];
    await database.query(sql`
      INSERT INTO webhook_endpoints
        (tenant_id, id, url, events, state, secret, version, idempotency_key, request_hash, client_id, created_by, created_at, updated_at)
      VALUES
        (${tenantId}, ${id}, 'https://old.example', '{*}', 'enabled', '', 1, 'old key', decode('ab', 'hex'), ${clientId}, NULL,
         '2026-05-04T03:02:01.123Z', now()),
        (${tenantId}, ${randomUUID()}, 'https://old.example', '{*}', 'deleted', '', 1, NULL, NULL, NULL, NULL, now(), now())
    `);
    await migrate(database, all);
    const store = createEndpointStore(withKeys(database, keys), createEventLog({ publish: () => undefined }));
    const again = await store.createEndpoint(
      { tenantId } as WebhookEndpoint,
      { key: "old key", hash: "ab" },
      { action: "webhook_endpoint.create", occurredAt: new Date() } as AuditDraft,
      500,
    );
    const createdAt = new Date("2026-05-04T03:02:01.123Z");
    expect(again).toEqual({ earlier: { id, clientId, createdBy: null, createdAt }, requestHash: "ab" });
    expect(await store.listEndpoints(tenantId, 10, undefined)).toHaveLength(1);
  });

  it("turns running totals into the buckets of the windows that policies test, and counts as much as before", async () => {
    const before = all.findIndex(({ name }) => name.endsWith("_usage_buckets.sql"));
    await migrate(database, all.slice(0, before));
    const tenantId = "018f0000-0000-7000-8000-000000000001";
    const limit = (more: object) => ({ when: { sum: { asset: "USD", per: "wallet", above: "1", ...more } } });
    const documents = [
      { rules: [limit({ period_seconds: 3600 })] },
      { rules: [limit({ period_seconds: 60 })] },
      {
        rules: [
          limit({ period_seconds: 86_400 }),
          { when: { count: { per: "tenant", period_seconds: 60, above: 1 } } },
          {},
        ],
      },
    ];
    for (const [index, document] of documents.entries())
      await database.query(sql`
        INSERT INTO policies (tenant_id, version, document, client_id, created_at, guards)
        VALUES (${tenantId}, ${index + 1}, ${JSON.stringify(document)}::jsonb, ${tenantId}, now(),
          ${JSON.stringify(
            index === 2
              ? [
                  { version: 1, until: "2100-01-01" },
                  { version: null, until: "2100-01-01" },
                ]
              : [],
          )}::jsonb)
      `);
    // Five a minute for two days, up to now.
    await database.query(sql`
      INSERT INTO usage_totals (tenant_id, scope, scope_id, asset, at, sum, count)
      SELECT ${tenantId}, scope, ${tenantId}, asset, now() - interval '12 seconds' * (14400 - n), CASE asset WHEN '' THEN 0 ELSE n * 7 END, n
      FROM generate_series(1, 14400) AS n, (VALUES ('wallet', 'USD'), ('wallet', ''), ('tenant', '')) AS kind (scope, asset)
    `);
    await migrate(database, all);
    const rows = await database.query<{ window: string; sum: number; count: number }>(sql`
      SELECT concat_ws(' ', w.per, w.asset, w.period_seconds) AS window,
        sum(b.sum)::integer AS sum, sum(b.count)::integer AS count
      FROM usage_windows w JOIN usage_buckets b ON b.window_id = w.id
      WHERE w.in_force AND w.filled_to IS NULL AND b.start > now() - interval '1 second' * (w.period_seconds + w.bucket_seconds)
      GROUP BY 1 ORDER BY 1
    `);
    expect(rows.map(({ window }) => window)).toEqual(["tenant  60", "wallet USD 3600", "wallet USD 86400"]);
    const [minute, hour, day] = rows;
    // Up to a sixtieth of the period more, and not less.
    expect(minute?.count).toBeGreaterThanOrEqual(5);
    expect(minute?.count).toBeLessThanOrEqual(6);
    expect(hour?.sum).toBeGreaterThanOrEqual(300 * 7);
    expect(hour?.sum).toBeLessThanOrEqual(305 * 7);
    expect(day?.sum).toBeGreaterThanOrEqual(7200 * 7);
    expect(day?.sum).toBeLessThanOrEqual(7320 * 7);
  });

  it("opens a backup of an earlier version on another server, and migrates it", async () => {
    const doubts = all.findIndex(({ name }) => name.endsWith("_doubted_wallets.sql"));
    await migrate(database, all.slice(0, doubts));
    await database.query(sql`UPDATE database_epochs SET system_identifier = '1', timeline = '00000001'`);
    const restored = openDatabase({ url: database.url, connectionsMax: 2, connectTimeoutMs: 60_000 });
    try {
      expect(await migrate(restored, all)).toEqual(all.slice(doubts).map(({ name }) => name));
      const epochs = await restored.query(sql`SELECT number, reason FROM database_epochs ORDER BY number`);
      expect(epochs.slice(1)).toEqual([{ number: "2", reason: "restored" }]);
    } finally {
      await restored.close();
    }
  });

  it("refuses a database that is newer than the code", async () => {
    await migrate(database, [...all, next("SELECT 1")]);
    await expect(migrate(database, all)).rejects.toThrow("start a newer version");
  });

  it("refuses a database with a migration of another checksum", async () => {
    await migrate(database, all);
    await database.query(sql`UPDATE schema_migrations SET checksum = 'other' WHERE number = 1`);
    await expect(migrate(database, all)).rejects.toThrow("in another form");
  });
});
