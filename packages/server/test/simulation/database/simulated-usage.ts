import { countsTowardsLimits, type UsageByWindow } from "@bursar/domain";
import type { TenantWindow } from "../../../src/app/policy/usage.js";
import type { Settlement } from "../../../src/app/transactions/settlement.js";
import type { RunStatement } from "./simulated-database.js";
import { tenants, type UsageBucket, usageBuckets } from "./simulated-tables.js";

/** A run takes seconds, and the shortest period of a limit is a minute: in this world a second of a period takes this long. */
export const periodSecondMs = 10;
/** A sixtieth of the only period, which is a minute. */
const bucketMs = periodSecondMs;

/** `store/policy/usage.ts`, on the simulated database. The only limit in this world counts the transactions of a tenant. */
export async function lockUsage(
  run: RunStatement,
  windows: readonly TenantWindow[],
  now: Date,
): Promise<UsageByWindow> {
  for (const tenantId of [...new Set(windows.map((window) => window.tenantId))].sort())
    await run("lock tenant", (rows) => rows.lock(tenants, tenantId));
  if (windows.length === 0) return new Map();
  return await run(
    "read usage",
    (rows) =>
      new Map(
        windows.map(({ tenantId, window: { key, periodSeconds } }) => {
          const buckets = rows.get(usageBuckets, tenantId) ?? [];
          const sinceMs = now.getTime() - periodSeconds * periodSecondMs;
          const within = buckets.filter(({ startMs }) => startMs > sinceMs - bucketMs);
          const count = within.reduce((sum, bucket) => sum + bucket.count, 0);
          return [key, { sum: 0n, count: BigInt(count) }];
        }),
      ),
  );
}

/** Counts what was allowed, and subtracts what has ended without being completed, under the lock of the tenant's log. */
export async function recordUsage(run: RunStatement, settlements: readonly Settlement[]): Promise<void> {
  const changes = settlements.flatMap(({ transaction, decision, occurredAt }) => {
    if (decision === undefined || transaction.clientId === null) return [];
    const { tenantId, state, countedAt } = transaction;
    if (!countsTowardsLimits(decision.state))
      return countedAt === null ? [] : [{ tenantId, atMs: countedAt.getTime(), count: -1 }];
    return state === "accepted" ? [{ tenantId, atMs: occurredAt.getTime(), count: 1 }] : [];
  });
  if (changes.length === 0) return;
  await run("write usage", (rows) => {
    for (const { tenantId, atMs, count } of changes) {
      const buckets = rows.get(usageBuckets, tenantId) ?? [];
      rows.put(usageBuckets, tenantId, change(buckets, Math.floor(atMs / bucketMs) * bucketMs, count));
    }
  });
}

/** Nothing is taken back from a bucket that does not exist. */
function change(buckets: readonly UsageBucket[], startMs: number, by: number): UsageBucket[] {
  const known = buckets.find((bucket) => bucket.startMs === startMs);
  if (known === undefined) return by < 0 ? [...buckets] : [...buckets, { startMs, count: by }];
  return buckets.map((bucket) => (bucket === known ? { startMs, count: known.count + by } : bucket));
}
