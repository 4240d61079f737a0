import type { WindowKind } from "@bursar/domain";
import type { Queryable } from "../core/database.js";
import { sql } from "../core/sql.js";

/**
 * The windows that are counted for a tenant. One is filled from the past before a policy that tests it is put in force, and retired when
 * no policy tests it any more; it is never revived. All changes hold the lock of the tenant's row.
 */

/** Windows of policies that were replaced within a minute are still counted. With more of them the next policy must wait. */
const retiredMax = 500;

/** A period begins in one of at least 60 buckets. */
export function bucketSecondsOf(periodSeconds: number): number {
  return Math.max(1, Math.floor(periodSeconds / 60));
}

/** Served by the primary key. */
export async function lockTenant(tx: Queryable, tenantId: string): Promise<void> {
  await tx.query(sql`SELECT FROM tenants WHERE id = ${tenantId} FOR NO KEY UPDATE`);
}

interface StoredWindow {
  id: string;
  key: string;
  isReady: boolean;
  isInForce: boolean;
}

/** Served by usage_windows_by_tenant. */
async function listWindows(source: Queryable, tenantId: string): Promise<Map<string, StoredWindow>> {
  const rows = await source.query<StoredWindow & WindowKind>(sql`
    SELECT id, per, nullif(asset, '') AS asset, period_seconds AS "periodSeconds", filled_to IS NULL AS "isReady", in_force AS "isInForce"
    FROM usage_windows WHERE tenant_id = ${tenantId} AND retired_at IS NULL
  `);
  return new Map(rows.map((row) => [keyOf(row), row]));
}

function keyOf({ per, asset, periodSeconds }: WindowKind): string {
  return `${per} ${asset ?? ""} ${periodSeconds}`;
}

export async function areWindowsReady(
  source: Queryable,
  tenantId: string,
  wanted: readonly WindowKind[],
): Promise<boolean> {
  if (wanted.length === 0) return true;
  const stored = await listWindows(source, tenantId);
  return wanted.every((kind) => stored.get(keyOf(kind))?.isReady === true);
}

/**
 * Adds those that are missing, to be filled from this sequence of the log on. Windows that were prepared for another policy and never put
 * in force are retired, so that they cannot pile up. False if too many were retired just now. Served by usage_windows_by_tenant.
 */
export async function registerWindows(
  tx: Queryable,
  tenantId: string,
  missing: readonly { kind: WindowKind; filledTo: number }[],
  wanted: readonly WindowKind[],
): Promise<boolean> {
  const [recent] = await tx.query<{ count: number }>(sql`
    SELECT count(*)::integer AS count FROM usage_windows
    WHERE tenant_id = ${tenantId} AND retired_at > now() - interval '1 minute'
  `);
  if ((recent?.count ?? 0) > retiredMax) return false;
  const keys = new Set(wanted.map(keyOf));
  const stored = await listWindows(tx, tenantId);
  await retire(
    tx,
    [...stored].flatMap(([key, { id, isInForce }]) => (isInForce || keys.has(key) ? [] : [id])),
  );
  const added = missing.filter(({ kind }) => !stored.has(keyOf(kind)));
  await tx.query(sql`
    INSERT INTO usage_windows (tenant_id, per, asset, period_seconds, bucket_seconds, filled_to)
    SELECT ${tenantId}, * FROM unnest(
      ${added.map(({ kind }) => kind.per)}::text[], ${added.map(({ kind }) => kind.asset ?? "")}::text[],
      ${added.map(({ kind }) => kind.periodSeconds)}::integer[],
      ${added.map(({ kind }) => bucketSecondsOf(kind.periodSeconds))}::integer[], ${added.map(({ filledTo }) => filledTo)}::bigint[])
  `);
  return true;
}

/** Those of these windows that the tenant does not have. */
export async function findMissingWindows(
  source: Queryable,
  tenantId: string,
  wanted: readonly WindowKind[],
): Promise<WindowKind[]> {
  const stored = await listWindows(source, tenantId);
  return wanted.filter((kind) => !stored.has(keyOf(kind)));
}

/**
 * Makes these the windows of the policy that this SQL transaction puts in force, and retires all others. A limit without its past would
 * admit more than it says, so it is an error if one is not filled.
 */
export async function putWindowsInForce(
  tx: Queryable,
  tenantId: string,
  wanted: readonly WindowKind[],
): Promise<void> {
  const stored = await listWindows(tx, tenantId);
  const keys = new Set(wanted.map(keyOf));
  const unready = [...keys].filter((key) => stored.get(key)?.isReady !== true);
  if (unready.length > 0) throw new Error(`the tenant ${tenantId} has no sums for ${unready.join(", ")}`);
  const kept = [...stored].filter(([key]) => keys.has(key)).map(([, { id }]) => id);
  if (kept.length > 0)
    await tx.query(
      sql`UPDATE usage_windows SET in_force = true WHERE id = ANY (${kept}::bigint[]) AND NOT in_force`,
    );
  await retire(
    tx,
    [...stored].filter(([key]) => !keys.has(key)).map(([, { id }]) => id),
  );
}

/** Served by the primary key. */
async function retire(tx: Queryable, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query(sql`UPDATE usage_windows SET retired_at = now() WHERE id = ANY (${[...ids]}::bigint[])`);
}
