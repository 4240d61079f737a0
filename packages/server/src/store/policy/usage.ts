import { countsTowardsLimits, type UsageByWindow } from "@bursar/domain";
import type { Counted, TenantWindow, UsageStore } from "../../app/policy/usage.js";
import type { Settlement } from "../../app/transactions/settlement.js";
import type { Database, Queryable, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";

/**
 * Rolling sums, as running totals: each row says what has been counted up to its time, so a period holds the difference of the
 * totals at its ends, and costs two look-ups whether it saw ten transactions or ten million. A batch adds one row for each wallet,
 * client and tenant in it, not one for each transaction.
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
 * Reads sums under a lock of their tenants: of two processes that judge a tenant's transactions or orders, the second sees what the
 * first has allowed. Served by the primary keys.
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

/** In place of an asset: the totals over all of them, which only have a count. */
const allAssets = "";

/** What a batch adds to the totals of one wallet, client or tenant. */
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
 * Counts transactions that have begun to count, and takes back those that have ended without being completed, whatever state they were
 * in; see `countUsage`.
 */
export function recordUsage(tx: Tx, settlements: readonly Settlement[]): void {
  const counted: Counted[] = [];
  const ended: Addition[] = [];
  for (const { transaction, decision, occurredAt } of settlements) {
    const { tenantId, clientId, sourceAccountId, asset, amount, countedAt } = transaction;
    // A deposit is nobody's request, and counts towards nothing.
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
 * Counts what was allowed. To be called when the tenants' logs are locked: totals of a tenant are written by one SQL transaction after
 * the other.
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

/** What one client pays from one wallet in one asset, of which a batch has many, becomes one: it goes into six totals. */
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
 * A total is never written before the one that it follows, whatever the clocks say: what two processes have counted in the same
 * moment, or with clocks that differ, is all in the last one.
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

/** From one time to another, what the totals of one wallet, client or tenant are too high by. */
interface Excess extends Addition {
  until: Date;
}

/**
 * As if they had never been counted: every total since then is less by them. Each total is written once, whatever the number of those
 * that are taken back: written once for each of them, three thousand that expired together could not be written at all. It costs as
 * much as there are totals since the first of them.
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

/** Between the times at which they were counted, what is to be taken back is the sum of those before. */
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

const removedMax = 5000;
/** In one go; the rest waits for the next. */
const roundsMax = 20;

/**
 * Removes totals that are older than any period, and followed by one that is too: the last of them is where every period begins.
 * Served by usage_totals_by_age and the primary key.
 */
export async function removeOldTotals(database: Database, before: Date): Promise<void> {
  for (let round = 0; round < roundsMax; round++)
    if ((await removeSome(database, before)) < removedMax) return;
}

async function removeSome(database: Database, before: Date): Promise<number> {
  const removed = await database.query(sql`
    DELETE FROM usage_totals WHERE (tenant_id, scope, scope_id, asset, at) IN (
      SELECT tenant_id, scope, scope_id, asset, at FROM usage_totals old
      WHERE old.at < ${before} AND EXISTS (
        SELECT FROM usage_totals later
        WHERE later.tenant_id = old.tenant_id AND later.scope = old.scope AND later.scope_id = old.scope_id
          AND later.asset = old.asset AND later.at > old.at AND later.at < ${before})
      ORDER BY old.at LIMIT ${removedMax})
    RETURNING 1
  `);
  return removed.length;
}
