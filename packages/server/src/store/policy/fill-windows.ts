import type { WindowKind } from "@bursar/domain";
import type { PrepareWindows } from "../../app/policy/prepare-limits.js";
import type { Database, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { addToBuckets, bucketsOf } from "./usage.js";
import { admittedOrders, countedInSlice, lastSequenceBefore, readHead, sliceOfLog } from "./usage-history.js";
import {
  areWindowsReady,
  bucketSecondsOf,
  findMissingWindows,
  lockTenant,
  registerWindows,
} from "./usage-windows.js";

export interface WindowFillerDeps {
  database: Database;
  log: Pick<EventLog, "lock">;
  now: () => number;
  monotonicMs: () => number;
  pause: (ms: number) => Promise<void>;
  /** How many events are counted at once; some hundred milliseconds. */
  sliceMax?: number;
  /** How long one request fills. The next one continues where it ended. */
  budgetMs?: number;
}

const sliceDefaultMax = 5000;
const budgetDefaultMs = 5000;

/**
 * Sums over the past are written slice by slice, each in its own SQL transaction, and a pause as long as the slice took leaves the
 * database to others. Only the last slice locks the tenant's log: what is counted after it is counted in the window too.
 */
export function createWindowFiller(deps: WindowFillerDeps): PrepareWindows {
  const { database, now, monotonicMs, budgetMs = budgetDefaultMs } = deps;
  return async (tenantId, expectedVersion, windows) => {
    if (await areWindowsReady(database, tenantId, windows)) return "ready";
    const registered = await register(deps, tenantId, expectedVersion, windows);
    if (registered === "other_version") return "ready";
    if (registered === "too_many") return "filling";
    const endsMs = monotonicMs() + budgetMs;
    for (;;) {
      const begunMs = monotonicMs();
      if (await fillSlice(deps, tenantId, new Date(now()))) break;
      if (monotonicMs() >= endsMs) return "filling";
      await deps.pause(monotonicMs() - begunMs);
    }
    return (await areWindowsReady(database, tenantId, windows)) ? "ready" : "filling";
  };
}

async function register(
  { database, now }: WindowFillerDeps,
  tenantId: string,
  expectedVersion: number,
  windows: readonly WindowKind[],
): Promise<"registered" | "other_version" | "too_many"> {
  const missing = await findMissingWindows(database, tenantId, windows);
  const begins: { kind: WindowKind; filledTo: number }[] = [];
  for (const kind of missing) {
    const seconds = kind.periodSeconds + bucketSecondsOf(kind.periodSeconds);
    const since = new Date(now() - seconds * 1000);
    begins.push({ kind, filledTo: await lastSequenceBefore(database, tenantId, since) });
  }
  return await database.transaction(async (tx) => {
    await lockTenant(tx, tenantId);
    // Served by the primary key.
    const [inForce] = await tx.query<{ version: number }>(
      sql`SELECT version FROM policies WHERE tenant_id = ${tenantId} ORDER BY version DESC LIMIT 1`,
    );
    if ((inForce?.version ?? 0) !== expectedVersion) return "other_version";
    return (await registerWindows(tx, tenantId, begins, windows)) ? "registered" : "too_many";
  });
}

/** Counts the next events of the log in all windows of the tenant that are not complete. Returns whether they are now. */
function fillSlice(
  { database, log, sliceMax = sliceDefaultMax }: WindowFillerDeps,
  tenantId: string,
  now: Date,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    // In the order of their keys, so that two processes that fill the same windows take turns. Served by usage_windows_by_tenant.
    const windows = await tx.query<{ id: string; filledTo: string }>(sql`
      SELECT id, filled_to AS "filledTo" FROM usage_windows
      WHERE tenant_id = ${tenantId} AND filled_to IS NOT NULL AND retired_at IS NULL ORDER BY id FOR UPDATE
    `);
    if (windows.length === 0) return true;
    const after = Math.min(...windows.map(({ filledTo }) => Number(filledTo)));
    const isNearEnd = (await readHead(tx, tenantId)) - after < sliceMax;
    if (isNearEnd) log.lock(tx, [tenantId]);
    const { events, last } = await countSlice(tx, { tenantId, after, now, sliceMax });
    const isComplete = isNearEnd && events < sliceMax;
    if (isComplete)
      await tx.query(addToBuckets(bucketsOf(sql`(${admittedOrders(tenantId, now)}) AS c`, isBeingFilled)));
    // Served by the primary key.
    await tx.query(sql`
      UPDATE usage_windows SET filled_to = ${isComplete ? null : last}::bigint
      WHERE id = ANY (${windows.map(({ id }) => id)}::bigint[]) AND (${isComplete} OR filled_to < ${last}::bigint)
    `);
    return isComplete;
  });
}

const isBeingFilled = sql`w.filled_to IS NOT NULL AND w.retired_at IS NULL`;

/** A window can be further than others, and what no period contains is left out. */
async function countSlice(
  tx: Tx,
  { tenantId, after, now, sliceMax }: { tenantId: string; after: number; now: Date; sliceMax: number },
): Promise<{ events: number; last: number }> {
  const isToCount = sql`${isBeingFilled} AND c.sequence > w.filled_to
    AND date_bin(interval '1 second' * w.bucket_seconds, c.at, 'epoch')
      > ${now}::timestamptz - interval '1 second' * (w.period_seconds + w.bucket_seconds)`;
  const [found] = await tx.query<{ events: number; last: string | null }>(sql`
    WITH ${sliceOfLog(tenantId, after, sliceMax)},
    written AS (${addToBuckets(bucketsOf(sql`(${countedInSlice}) AS c`, isToCount))})
    SELECT count(*)::integer AS events, max(sequence) AS last FROM slice
  `);
  return { events: found?.events ?? 0, last: Number(found?.last ?? after) };
}
