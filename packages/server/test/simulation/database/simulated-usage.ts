import { countsTowardsLimits, type UsageByWindow } from "@bursar/domain";
import type { TenantWindow } from "../../../src/app/policy/usage.js";
import type { Settlement } from "../../../src/app/transactions/settlement.js";
import type { RunStatement } from "./simulated-database.js";
import { tenants, type UsageTotal, usageTotals } from "./simulated-tables.js";

/** A run takes seconds, and the shortest period of a limit is a minute: in this world a second of a period takes this long. */
export const periodSecondMs = 10;

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
          const totals = rows.get(usageTotals, tenantId) ?? [];
          const sinceMs = now.getTime() - periodSeconds * periodSecondMs;
          const before = totals.findLast(({ atMs }) => atMs <= sinceMs)?.count ?? 0;
          return [key, { sum: 0n, count: BigInt((totals.at(-1)?.count ?? 0) - before) }];
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
      const totals = rows.get(usageTotals, tenantId) ?? [];
      rows.put(usageTotals, tenantId, count > 0 ? add(totals, atMs) : takeBack(totals, atMs));
    }
  });
}

/** A total never has an earlier time than its predecessor. */
function add(totals: readonly UsageTotal[], atMs: number): UsageTotal[] {
  const last = totals.at(-1) ?? { atMs, count: 0 };
  const added = { atMs: Math.max(atMs, last.atMs), count: last.count + 1 };
  return [...totals.filter((total) => total.atMs < added.atMs), added];
}

function takeBack(totals: readonly UsageTotal[], sinceMs: number): UsageTotal[] {
  return totals.map((total) => (total.atMs < sinceMs ? total : { ...total, count: total.count - 1 }));
}
