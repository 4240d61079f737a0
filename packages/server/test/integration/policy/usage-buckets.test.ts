import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Settlement } from "../../../src/app/transactions/settlement.js";
import { sql } from "../../../src/store/core/sql.js";
import { removeOldUsage } from "../../../src/store/policy/remove-old-usage.js";
import { countUsage, readUsage, recordUsage } from "../../../src/store/policy/usage.js";
import { bucketSecondsOf } from "../../../src/store/policy/usage-windows.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

const tenantId = "019b0000-0000-7000-8000-000000000000";
const clientId = "019b0000-0000-7000-8000-000000000001";
const walletId = "019b0000-0000-7000-8000-000000000002";
const dayMs = 86_400_000;
const nowMs = Date.UTC(2026, 5, 1, 12);
const periods = [60, 61, 119, 3600, 86_400, 90 * 86_400];

describe("sums in buckets", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    for (const periodSeconds of periods)
      await database.query(sql`
        INSERT INTO usage_windows (tenant_id, per, asset, period_seconds, bucket_seconds)
        VALUES (${tenantId}, 'wallet', 'USD', ${periodSeconds}, ${bucketSecondsOf(periodSeconds)})
      `);
  });
  afterAll(() => database.drop());

  const paidAt = (atMs: number) => ({
    ...{ tenantId, clientId, walletId, asset: "USD", amount: 1n },
    at: new Date(atMs),
  });
  const sumOf = async (periodSeconds: number, atMs = nowMs) => {
    const window = { key: "k", per: "wallet" as const, id: walletId, asset: "USD", periodSeconds };
    return Number((await readUsage(database, [{ tenantId, window }], new Date(atMs))).get("k")?.sum);
  };
  const versions = async () => {
    const rows = await database.query<{ key: string; version: string }>(
      sql`SELECT window_id || ' ' || start AS key, xmin::text AS version FROM usage_buckets`,
    );
    return new Map(rows.map(({ key, version }) => [key, version]));
  };
  const times = Array.from({ length: 8640 }, (_, index) => nowMs - index * 10_000);

  it("are exact up to a sixtieth of the period, and never less, after a day of payments", async () => {
    for (let from = 0; from < times.length; from += 1000)
      await database.transaction(async (tx) => countUsage(tx, times.slice(from, from + 1000).map(paidAt)));
    for (const periodSeconds of periods) {
      const exact = times.filter((atMs) => atMs > nowMs - periodSeconds * 1000).length;
      const more = times.filter((atMs) => atMs > nowMs - (periodSeconds * 61 * 1000) / 60).length;
      const sum = await sumOf(periodSeconds);
      expect(sum).toBeGreaterThanOrEqual(exact);
      expect(sum).toBeLessThanOrEqual(more);
    }
    const [most] = await database.query<{ rows: number }>(sql`
      SELECT count(*)::integer AS rows FROM usage_buckets b JOIN usage_windows w ON w.id = b.window_id
      WHERE w.period_seconds = 86400
    `);
    expect(most?.rows).toBeLessThanOrEqual(61);
  });

  it("are corrected by one row for each window when a payment of that morning ends", async () => {
    const countedAt = new Date(nowMs - dayMs / 2);
    const transaction = { ...paidAt(0), sourceAccountId: walletId, state: "awaiting_approval", countedAt };
    const ended = { transaction, decision: { state: "rejected" }, occurredAt: new Date(nowMs) };
    const before = await versions();
    const sumBefore = await sumOf(86_400);
    await database.transaction(async (tx) => recordUsage(tx, [ended as unknown as Settlement]));
    const after = await versions();
    const changed = [...after].filter(([key, version]) => before.get(key) !== version);
    expect(after.size).toBe(before.size);
    expect(changed.length).toBeLessThanOrEqual(periods.length);
    expect(changed.length).toBeGreaterThan(0);
    expect([await sumOf(86_400), await sumOf(90 * 86_400)]).toEqual([sumBefore - 1, times.length - 1]);
  });

  it("are not written for a tenant without limits, nor for an asset without one", async () => {
    const before = await versions();
    await database.transaction(async (tx) =>
      countUsage(tx, [
        { ...paidAt(nowMs), tenantId: clientId },
        { ...paidAt(nowMs), asset: "EUR" },
      ]),
    );
    expect(await versions()).toEqual(before);
  });

  it("are removed when no period contains them, and with a window that no policy tests", async () => {
    await database.run(`
      UPDATE usage_buckets SET expires_at = now() - interval '2 hours'
      WHERE window_id = (SELECT id FROM usage_windows WHERE period_seconds = 60);
      UPDATE usage_windows SET retired_at = now() - interval '1 hour' WHERE period_seconds = 61;
      UPDATE usage_windows SET retired_at = now() WHERE period_seconds = 119;
      UPDATE usage_buckets SET expires_at = now() + interval '1 day'
      WHERE window_id IN (SELECT id FROM usage_windows WHERE period_seconds > 60)`);
    await removeOldUsage(database);
    const left = await database.query<{ period: number; hasBuckets: boolean }>(sql`
      SELECT period_seconds AS period, EXISTS (SELECT FROM usage_buckets b WHERE b.window_id = w.id) AS "hasBuckets"
      FROM usage_windows w ORDER BY 1
    `);
    expect(left).toEqual([
      { period: 60, hasBuckets: false },
      ...[119, 3600, 86_400, 90 * 86_400].map((period) => ({ period, hasBuckets: true })),
    ]);
  });
});
