import { countsTowardsLimits, type UsageByWindow } from "@bursar/domain";
import type { Counted, OnHistoryRead, TenantWindow, UsageStore } from "../../app/policy/usage.js";
import type { Settlement } from "../../app/transactions/settlement.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";
import { HistoryTooLongError, readHistory } from "./usage-history.js";

/**
 * Rolling sums are kept in buckets, for each wallet, client or tenant in a window that a policy tests. A window has about 60 buckets, so a
 * sum reads at most 120 short rows whether the period has ten transactions or ten million, counting writes one row, and taking back
 * changes one. A period begins inside a bucket, which counts as a whole: up to a sixtieth of the period more, never less.
 */
export function createUsageStore(database: Database): UsageStore {
  return {
    readUsage: (windows, now, onHistoryRead) =>
      readUsage(database, windows, now, onHistoryRead).catch((error: unknown) => {
        if (error instanceof HistoryTooLongError) return undefined;
        throw error;
      }),
  };
}

/** Takes the place of an asset in a window over all assets, which only has a count. */
const allAssets = "";

/** A window is read and counted for a minute after its policy was replaced, because another process can still have that policy. */
const isCounted = sql`(w.retired_at IS NULL OR w.retired_at > now() - interval '1 minute') AND w.filled_to IS NULL`;

/**
 * A window of a policy that is not in force has no buckets, and is summed over the tenant's log. Served by usage_windows_by_tenant and the
 * primary key of buckets.
 */
export async function readUsage(
  source: Queryable,
  windows: readonly TenantWindow[],
  now: Date,
  onHistoryRead?: OnHistoryRead,
): Promise<UsageByWindow> {
  if (windows.length === 0) return new Map();
  const column = <T>(pick: (entry: TenantWindow) => T) => windows.map(pick);
  const rows = await source.query<{ key: string; isKept: boolean; sum: string; count: string }>(sql`
    SELECT asked.key, kept.id IS NOT NULL AS "isKept", coalesce(used.sum, 0) AS sum, coalesce(used.count, 0) AS count
    FROM unnest(
      ${column(({ window }) => window.key)}::text[], ${column(({ tenantId }) => tenantId)}::uuid[],
      ${column(({ window }) => window.per)}::text[], ${column(({ window }) => window.id)}::uuid[],
      ${column(({ window }) => window.asset ?? allAssets)}::text[], ${column(({ window }) => window.periodSeconds)}::integer[]
    ) AS asked (key, tenant_id, per, scope_id, asset, period_seconds)
    LEFT JOIN LATERAL (
      SELECT w.id, w.bucket_seconds FROM usage_windows w
      WHERE w.tenant_id = asked.tenant_id AND w.asset = asked.asset AND w.per = asked.per
        AND w.period_seconds = asked.period_seconds AND ${isCounted}
      ORDER BY w.retired_at DESC NULLS FIRST LIMIT 1) AS kept ON true
    LEFT JOIN LATERAL (
      SELECT sum(b.sum) AS sum, sum(b.count) AS count FROM usage_buckets b
      WHERE b.window_id = kept.id AND b.scope_id = asked.scope_id
        AND b.start > ${now}::timestamptz - interval '1 second' * (asked.period_seconds + kept.bucket_seconds)) AS used ON true
  `);
  const usage: UsageByWindow = new Map(
    rows.map(({ key, sum, count }) => [key, { sum: BigInt(sum), count: BigInt(count) }]),
  );
  const missing = new Set(rows.flatMap(({ key, isKept }) => (isKept ? [] : [key])));
  const unkept = windows.filter(({ window }) => missing.has(window.key));
  for (const tenantId of new Set(unkept.map((entry) => entry.tenantId))) {
    const ofTenant = unkept.flatMap((entry) => (entry.tenantId === tenantId ? [entry.window] : []));
    const history = await readHistory(source, tenantId, ofTenant, now, onHistoryRead);
    for (const [key, found] of history) usage.set(key, found);
  }
  return usage;
}

/**
 * Reads sums under a lock on their tenants. If two processes judge transactions or orders of one tenant, the second sees the ones that
 * the first has allowed. Served by the primary keys.
 */
export async function lockUsage(
  tx: Queryable,
  windows: readonly TenantWindow[],
  now: Date,
): Promise<UsageByWindow> {
  if (windows.length === 0) return new Map();
  const tenantIds = [...new Set(windows.map(({ tenantId }) => tenantId))];
  await tx.query(
    sql`SELECT FROM tenants WHERE id = ANY (${tenantIds}::uuid[]) ORDER BY id FOR NO KEY UPDATE`,
  );
  return await readUsage(tx, windows, now);
}

/** Counts transactions that were allowed, and subtracts those that ended without being completed, from any state; see `countUsage`. */
export function recordUsage(tx: Tx, settlements: readonly Settlement[]): void {
  const counted: Counted[] = [];
  const ended: Counted[] = [];
  for (const { transaction, decision, occurredAt } of settlements) {
    const { tenantId, clientId, sourceAccountId, asset, amount, countedAt } = transaction;
    // A deposit is not requested by a client, so it does not count towards limits.
    if (decision === undefined || clientId === null) continue;
    const counts = countsTowardsLimits(decision.state);
    const at = counts ? (transaction.state === "accepted" ? occurredAt : null) : countedAt;
    if (at === null) continue;
    const one = { tenantId, clientId, walletId: sourceAccountId, asset, amount, at };
    (counts ? counted : ended).push(one);
  }
  countUsage(tx, counted);
  takeBack(tx, ended);
}

/**
 * Counts allowed transactions and orders in the windows of their tenants' policies; without a window it writes nothing. The windows are
 * read by the statement itself, because a process can have an earlier policy. The caller must hold the locks of the tenants' logs: a
 * window that becomes complete waits for them, so everything is counted either from the log or here. Served by usage_windows_by_tenant
 * and the primary key of buckets.
 */
export function countUsage(tx: Tx, counted: readonly Counted[]): void {
  if (counted.length > 0) tx.send(addToBuckets(bucketsOf(listCounted(counted), isCounted)));
}

/**
 * Subtracts from the bucket that counted it, which is one row for each window. A bucket that is gone is older than the period, or was
 * repaired. Served by usage_windows_by_tenant and the primary key of buckets.
 */
function takeBack(tx: Tx, ended: readonly Counted[]): void {
  if (ended.length === 0) return;
  tx.send(sql`
    UPDATE usage_buckets b SET sum = b.sum - gone.sum, count = b.count - gone.count
    FROM (
      SELECT given.sum, given.count, found.place FROM (${bucketsOf(listCounted(ended), isCounted)}) AS given
      CROSS JOIN LATERAL (
        SELECT r.ctid AS place FROM usage_buckets r
        WHERE r.window_id = given.window_id AND r.scope_id = given.scope_id AND r.start = given.start LIMIT 1) AS found
    ) AS gone WHERE b.ctid = gone.place
  `);
}

/** Entries, `c`, as rows that `bucketsOf` takes. Those of one client, wallet, asset and time are one row: a batch has many of them. */
function listCounted(counted: readonly Counted[]): Statement {
  const joined = new Map<string, Counted & { count: number }>();
  for (const one of counted) {
    const key = `${one.clientId} ${one.walletId} ${one.asset} ${one.at.getTime()}`;
    const known = joined.get(key);
    if (known === undefined) joined.set(key, { ...one, count: 1 });
    else {
      known.amount += one.amount;
      known.count += 1;
    }
  }
  const rows = [...joined.values()];
  const column = <T>(pick: (one: Counted & { count: number }) => T) => rows.map(pick);
  return sql`unnest(
      ${column((c) => c.tenantId)}::uuid[], ${column((c) => c.clientId)}::uuid[], ${column((c) => c.walletId)}::uuid[],
      ${column((c) => c.asset)}::text[], ${column((c) => c.amount)}::numeric[], ${column((c) => c.count)}::bigint[],
      ${column((c) => c.at)}::timestamptz[]
    ) AS c (tenant_id, client_id, wallet_id, asset, amount, count, at)`;
}

/** The buckets of windows, `w`, that entries, `c`, are counted in, in the order of their keys. */
export function bucketsOf(entries: Statement, which: Statement): Statement {
  return sql`
    SELECT w.id AS window_id, bucket.scope_id, bucket.start, w.period_seconds, w.bucket_seconds,
      sum(CASE w.asset WHEN ${allAssets} THEN 0 ELSE c.amount END) AS sum, sum(c.count)::bigint AS count
    FROM ${entries}
    CROSS JOIN LATERAL (
      SELECT * FROM usage_windows w WHERE w.tenant_id = c.tenant_id AND w.asset IN (c.asset, ${allAssets}) AND ${which} OFFSET 0) AS w
    CROSS JOIN LATERAL (
      SELECT CASE w.per WHEN 'wallet' THEN c.wallet_id WHEN 'client' THEN c.client_id ELSE c.tenant_id END AS scope_id,
        date_bin(interval '1 second' * w.bucket_seconds, c.at, 'epoch') AS start) AS bucket
    GROUP BY w.id, bucket.scope_id, bucket.start, w.period_seconds, w.bucket_seconds
    ORDER BY w.id, bucket.scope_id, bucket.start`;
}

export function addToBuckets(buckets: Statement): Statement {
  return sql`
    INSERT INTO usage_buckets (window_id, scope_id, start, sum, count, expires_at)
    SELECT window_id, scope_id, start, sum, count, start + interval '1 second' * (period_seconds + bucket_seconds)
    FROM (${buckets}) AS added
    ON CONFLICT (window_id, scope_id, start) DO UPDATE
      SET sum = usage_buckets.sum + EXCLUDED.sum, count = usage_buckets.count + EXCLUDED.count
  `;
}
