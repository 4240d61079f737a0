import { countsTowardsLimits, type UsageByWindow } from "@bursar/domain";
import type { Counted, TenantWindow, UsageStore } from "../../app/policy/usage.js";
import type { Settlement } from "../../app/transactions/settlement.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";

/**
 * Rolling sums are stored as running totals: each row holds everything counted up to its time. The sum over a period is the difference
 * of the totals at its ends, which takes two look-ups whether the period has ten transactions or ten million. A batch adds one row for
 * each wallet, client and tenant in it, not one for each transaction.
 */
export function createUsageStore(database: Database): UsageStore {
  return { readUsage: (windows, now) => readUsage(database, windows, now) };
}

// Served by the primary key, twice.
export async function readUsage(
  source: Queryable,
  windows: readonly TenantWindow[],
  now: Date,
): Promise<UsageByWindow> {
  if (windows.length === 0) return new Map();
  const column = <T>(pick: (entry: TenantWindow) => T) => windows.map(pick);
  const rows = await source.query<{ key: string; sum: string; count: string }>(sql`
    SELECT w.key, coalesce(upto.sum, 0) - coalesce(before.sum, 0) AS sum, coalesce(upto.count, 0) - coalesce(before.count, 0) AS count
    FROM unnest(
      ${column(({ window }) => window.key)}::text[], ${column(({ tenantId }) => tenantId)}::uuid[],
      ${column(({ window }) => window.per)}::text[], ${column(({ window }) => window.id)}::uuid[],
      ${column(({ window }) => window.asset ?? allAssets)}::text[],
      ${column(({ window }) => new Date(now.getTime() - window.periodSeconds * 1000))}::timestamptz[]
    ) AS w (key, tenant_id, scope, scope_id, asset, since)
    LEFT JOIN LATERAL (
      SELECT u.sum, u.count FROM usage_totals u
      WHERE u.tenant_id = w.tenant_id AND u.scope = w.scope AND u.scope_id = w.scope_id AND u.asset = w.asset
      ORDER BY u.at DESC LIMIT 1) upto ON true
    LEFT JOIN LATERAL (
      SELECT u.sum, u.count FROM usage_totals u
      WHERE u.tenant_id = w.tenant_id AND u.scope = w.scope AND u.scope_id = w.scope_id AND u.asset = w.asset
        AND u.at <= w.since
      ORDER BY u.at DESC LIMIT 1) before ON true
  `);
  return new Map(rows.map(({ key, sum, count }) => [key, { sum: BigInt(sum), count: BigInt(count) }]));
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

/** Takes the place of an asset in the totals over all assets, which only have a count. */
const allAssets = "";

/** The amounts that a batch adds to the totals of one wallet, client or tenant. */
interface Addition {
  tenantId: string;
  scope: "wallet" | "client" | "tenant";
  scopeId: string;
  asset: string;
  at: Date;
  sum: bigint;
  count: number;
}

/**
 * Counts transactions that were allowed, and subtracts transactions that ended without being completed, from any state; see
 * `countUsage`.
 */
export function recordUsage(tx: Tx, settlements: readonly Settlement[]): void {
  const counted: Counted[] = [];
  const ended: Addition[] = [];
  for (const { transaction, decision, occurredAt } of settlements) {
    const { tenantId, clientId, sourceAccountId, asset, amount, countedAt } = transaction;
    // A deposit is not requested by a client, so it does not count towards limits.
    if (decision === undefined || clientId === null) continue;
    const counts = countsTowardsLimits(decision.state);
    const at = counts ? (transaction.state === "accepted" ? occurredAt : null) : countedAt;
    if (at === null) continue;
    const one = { tenantId, clientId, walletId: sourceAccountId, asset, amount, at };
    if (counts) counted.push(one);
    else ended.push(...gather([one]));
  }
  countUsage(tx, counted);
  if (ended.length > 0) takeBack(tx, ended);
}

/**
 * Counts allowed transactions and orders. The caller must hold the locks of the tenants' logs, so that only one SQL transaction at a time
 * writes the totals of a tenant.
 */
export function countUsage(tx: Tx, counted: readonly Counted[]): void {
  if (counted.length > 0) addTotals(tx, gather(counted));
}

function gather(counted: readonly Counted[]): Addition[] {
  const additions = new Map<string, Addition>();
  for (const { tenantId, clientId, walletId, asset, amount, at, count } of joinAlike(counted)) {
    for (const [scope, scopeId] of [
      ["wallet", walletId],
      ["client", clientId],
      ["tenant", tenantId],
    ] as const) {
      for (const name of [asset, allAssets]) {
        const key = `${scope} ${scopeId} ${name}`;
        const known = additions.get(key) ?? { tenantId, scope, scopeId, asset: name, at, sum: 0n, count: 0 };
        known.sum += name === allAssets ? 0n : amount;
        known.count += count;
        if (at > known.at) known.at = at;
        additions.set(key, known);
      }
    }
  }
  return [...additions.values()];
}

/** Merges the entries of one client, wallet and asset. A batch has many of them, and each would be added to six totals. */
function joinAlike(counted: readonly Counted[]): Iterable<Counted & { count: number }> {
  const joined = new Map<string, Counted & { count: number }>();
  for (const { tenantId, clientId, walletId, asset, amount, at } of counted) {
    const key = `${clientId} ${walletId} ${asset}`;
    const known = joined.get(key);
    if (known === undefined) {
      joined.set(key, { tenantId, clientId, walletId, asset, amount, at, count: 1 });
      continue;
    }
    known.amount += amount;
    known.count += 1;
    if (at > known.at) known.at = at;
  }
  return joined.values();
}

/**
 * A total never has an earlier time than its predecessor. If two processes count at the same time, or with clocks that differ, the last
 * total includes everything.
 */
function addTotals(tx: Tx, additions: readonly Addition[]): void {
  const column = <T>(pick: (addition: Addition) => T) => additions.map(pick);
  tx.send(sql`
    INSERT INTO usage_totals (tenant_id, scope, scope_id, asset, at, sum, count)
    SELECT a.tenant_id, a.scope, a.scope_id, a.asset, greatest(a.at, last.at), a.sum + coalesce(last.sum, 0), a.count + coalesce(last.count, 0)
    FROM unnest(
      ${column((a) => a.tenantId)}::uuid[], ${column((a) => a.scope)}::text[], ${column((a) => a.scopeId)}::uuid[],
      ${column((a) => a.asset)}::text[], ${column((a) => a.at)}::timestamptz[], ${column((a) => a.sum)}::numeric[],
      ${column((a) => a.count)}::bigint[]
    ) AS a (tenant_id, scope, scope_id, asset, at, sum, count)
    LEFT JOIN LATERAL (
      SELECT u.at, u.sum, u.count FROM usage_totals u
      WHERE u.tenant_id = a.tenant_id AND u.scope = a.scope AND u.scope_id = a.scope_id AND u.asset = a.asset
      ORDER BY u.at DESC LIMIT 1) last ON true
    ON CONFLICT (tenant_id, scope, scope_id, asset, at) DO UPDATE SET sum = EXCLUDED.sum, count = EXCLUDED.count
  `);
}

/** An amount by which the totals of one wallet, client or tenant are too high between two times. */
interface Excess extends Addition {
  until: Date;
}

/**
 * Subtracts entries from every total since they were counted. Each total is updated once for all entries: with one update per entry,
 * three thousand transactions that expired together could not be written in time. The cost grows with the number of totals since the
 * first of the entries.
 */
function takeBack(tx: Tx, gone: readonly Addition[]): void {
  const excesses = excessesOf(gone);
  const column = <T>(pick: (excess: Excess) => T) => excesses.map(pick);
  tx.send(sql`
    UPDATE usage_totals u SET sum = u.sum - e.sum, count = u.count - e.count
    FROM unnest(
      ${column((e) => e.tenantId)}::uuid[], ${column((e) => e.scope)}::text[], ${column((e) => e.scopeId)}::uuid[],
      ${column((e) => e.asset)}::text[], ${column((e) => e.at)}::timestamptz[], ${column((e) => e.until)}::timestamptz[],
      ${column((e) => e.sum)}::numeric[], ${column((e) => e.count)}::bigint[]
    ) AS e (tenant_id, scope, scope_id, asset, since, until, sum, count)
    WHERE u.tenant_id = e.tenant_id AND u.scope = e.scope AND u.scope_id = e.scope_id AND u.asset = e.asset
      AND u.at >= e.since AND u.at < e.until
  `);
}

const endOfTime = new Date(Date.UTC(9999, 0));

/** Between two of the times at which entries were counted, the amount to subtract is the sum of the entries before. */
function excessesOf(gone: readonly Addition[]): Excess[] {
  const byTotal = new Map<string, Addition[]>();
  for (const addition of gone) {
    const key = `${addition.scope} ${addition.scopeId} ${addition.asset}`;
    const known = byTotal.get(key);
    if (known === undefined) byTotal.set(key, [addition]);
    else known.push(addition);
  }
  return [...byTotal.values()].flatMap((additions) => {
    const inTime = additions.toSorted((a, b) => a.at.getTime() - b.at.getTime());
    const excesses: Excess[] = [];
    let [sum, count] = [0n, 0];
    for (const [index, addition] of inTime.entries()) {
      sum += addition.sum;
      count += addition.count;
      const until = inTime[index + 1]?.at ?? endOfTime;
      if (until > addition.at) excesses.push({ ...addition, sum, count, until });
    }
    return excesses;
  });
}
