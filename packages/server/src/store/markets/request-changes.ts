import { isStopped } from "../access/stops/stop-records.js";
import type { Database, Queryable } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

/**
 * An open order holds what is requested until the market claims it: one change, and the client that caused it. A second request replaces
 * the name only if it changes what will be done, so no event names a client for what it did not ask. Without a name the service did it.
 *
 * | waits        | requested         | the market does | in the name of |
 * |--------------|-------------------|-----------------|----------------|
 * | nothing      | anything          | that            | its requester  |
 * | amend to 5   | amend to 3        | amend to 3      | the second     |
 * | amend to 5   | amend to 5 or 8   | amend to 5      | the first      |
 * | amend to 5   | cancel, or a stop | cancel          | the second     |
 * | cancellation | anything          | cancel          | the first      |
 *
 * A stop is a freeze, a disabled client or a suspension; one that was recorded alone is carried out without a name.
 */
export function cancelBy(actorId: string | null): Statement {
  return sql`cancel_requested = true, change_requested_by = ${actorId}::uuid`;
}

/** Served by the primary key. */
export async function requestCancel(
  source: Queryable,
  tenantId: string,
  id: string,
  actorId: string,
): Promise<boolean> {
  const rows = await source.query(sql`
    UPDATE open_orders SET cancel_requested = true,
      change_requested_by = CASE WHEN cancel_requested THEN change_requested_by ELSE ${actorId}::uuid END
    WHERE tenant_id = ${tenantId} AND id = ${id} RETURNING id
  `);
  return rows.length > 0;
}

/** Served by the primary key. Of two amendments that wait, the smaller counts: after it, the other would change nothing. */
export async function requestAmendment(
  source: Queryable,
  tenantId: string,
  id: string,
  size: number,
  actorId: string,
): Promise<boolean> {
  const rows = await source.query(sql`
    UPDATE open_orders SET amend_size = least(amend_size, ${size}),
      change_requested_by = CASE WHEN cancel_requested OR amend_size <= ${size} THEN change_requested_by ELSE ${actorId}::uuid END
    WHERE tenant_id = ${tenantId} AND id = ${id} RETURNING id
  `);
  return rows.length > 0;
}

/**
 * Requests that all orders of a wallet are cancelled, and returns the markets in whose books some are. Rows are locked in the order of
 * their ids, as a matching engine locks them, so the two cannot deadlock; those that are to be cancelled already are left alone. Served by the primary key: a tenant has few open orders.
 */
export async function requestCancels(
  source: Queryable,
  tenantId: string,
  walletId: string,
  actorId: string | null,
  condition: Statement = sql`true`,
): Promise<string[]> {
  const isOwn = sql`tenant_id = ${tenantId} AND wallet_id = ${walletId} AND ${condition}`;
  const rows = await source.query<{ market: string }>(sql`
    WITH own AS (
      SELECT id FROM open_orders WHERE ${isOwn} AND NOT cancel_requested ORDER BY id FOR UPDATE),
    requested AS (
      UPDATE open_orders p SET ${cancelBy(actorId)}
      FROM own WHERE p.tenant_id = ${tenantId} AND p.id = own.id
      RETURNING p.market, p.sequence)
    SELECT market FROM requested WHERE sequence IS NOT NULL
    UNION SELECT market FROM open_orders WHERE ${isOwn} AND cancel_requested AND sequence IS NOT NULL
  `);
  return rows.map(({ market }) => market);
}

export function requestCancelsOfFrozenWallet(
  database: Database,
  tenantId: string,
  walletId: string,
): Promise<string[]> {
  return requestCancels(database, tenantId, walletId, null, isFrozen(tenantId, walletId));
}

/** Served by the primary keys. */
export async function hasOrdersOfFrozenWallet(
  database: Database,
  tenantId: string,
  walletId: string,
): Promise<boolean> {
  const rows = await database.query(sql`
    SELECT FROM open_orders WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId} AND sequence IS NOT NULL
      AND ${isFrozen(tenantId, walletId)} LIMIT 1
  `);
  return rows.length > 0;
}

function isFrozen(tenantId: string, walletId: string): Statement {
  return sql`(EXISTS (SELECT FROM wallets w WHERE w.tenant_id = ${tenantId} AND w.id = ${walletId} AND w.frozen)
    OR ${isStopped(sql`${tenantId}::uuid`, sql`${walletId}::uuid`)})`;
}
