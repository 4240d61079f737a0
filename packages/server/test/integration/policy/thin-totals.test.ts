import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createTotalsThinner } from "../../../src/store/policy/thin-totals.js";
import { readUsage } from "../../../src/store/policy/usage.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

const tenantId = "019b0000-0000-7000-8000-000000000000";
const otherId = "019b0000-0000-7000-8000-000000000001";
const nowMs = Date.UTC(2026, 5, 1, 12);
const hourMs = 3_600_000;
const periodMaxMs = 90 * 24 * hourMs;

describe("totals that grow old", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  /** Counts one every so often, from one age to another. */
  const fill = (scopeId: string, fromMs: number, toMs: number, everyMs: number) =>
    database.query(sql`
      INSERT INTO usage_totals (tenant_id, scope, scope_id, asset, at, sum, count)
      SELECT ${tenantId}, 'wallet', ${scopeId}, 'USD', at, n + last, n + last
      FROM generate_series(${new Date(nowMs - fromMs)}::timestamptz, ${new Date(nowMs - toMs)}::timestamptz,
          interval '1 millisecond' * ${everyMs}::integer) WITH ORDINALITY series (at, n),
        (SELECT coalesce(max(sum), 0) AS last FROM usage_totals WHERE scope_id = ${scopeId})
    `);
  const counts = async () => {
    const rows = await database.query<{ scope_id: string; rows: number }>(
      sql`SELECT scope_id, count(*)::integer AS rows FROM usage_totals GROUP BY 1 ORDER BY 1`,
    );
    return rows.map(({ rows: count }) => count);
  };
  const usageOf = async (periodSeconds: number) => {
    const window = { key: "k", per: "wallet" as const, id: tenantId, asset: "USD", periodSeconds };
    return Number((await readUsage(database, [{ tenantId, window }], new Date(nowMs))).get("k")?.sum);
  };

  it("are thinned out, and every period counts as much as before or at most a sixtieth of it more", async () => {
    // One a minute for ten days, four a second in the last two hours; and one wallet that has hardly been used.
    await fill(tenantId, 240 * hourMs, 2 * hourMs + 1, 60_000);
    await fill(tenantId, 2 * hourMs, 0, 250);
    await fill(otherId, 200 * hourMs, 190 * hourMs, 5 * hourMs);
    const periods = [60, 61, 300, 1799, 3600, 3661, 7200, 86_400, 216_001, 300_000, 864_000 - 1];
    const before = await Promise.all(periods.map(usageOf));
    const thin = createTotalsThinner(database, periodMaxMs);
    await thin(nowMs);
    const [thinned, untouched] = await counts();
    // A minute of four a second, an hour of seconds, 59 hours of minutes and 180 hours.
    expect(thinned).toBeLessThan(240 + 3600 + 59 * 60 + 180 + 10);
    expect(untouched).toBe(3);
    for (const [index, periodSeconds] of periods.entries()) {
      const after = await usageOf(periodSeconds);
      expect(after).toBeGreaterThanOrEqual(before[index] ?? 0);
      const grainSeconds = periodSeconds < 3600 ? 1 : periodSeconds < 216_000 ? 60 : 3600;
      expect(after - (before[index] ?? 0)).toBeLessThanOrEqual(grainSeconds * 4);
    }
    // What has not grown older is not looked at again.
    await thin(nowMs);
    expect((await counts())[0]).toBe(thinned);
  });

  it("are removed if they are older than any period, except the last of them", async () => {
    const laterMs = nowMs + periodMaxMs + hourMs;
    await createTotalsThinner(database, periodMaxMs)(laterMs);
    expect(await counts()).toEqual([1, 1]);
  });
});
