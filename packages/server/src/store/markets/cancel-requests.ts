import type { Queryable } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

/**
 * Asks for all orders of a wallet to be called off; the markets in whose books some are. Rows are locked in the order of their ids, as
 * by the owner of a market, so that the two never wait for each other. Served by the primary key: what a tenant has open is little.
 */
export async function requestCancels(
  source: Queryable,
  tenantId: string,
  walletId: string,
  condition: Statement = sql`true`,
): Promise<string[]> {
  const rows = await source.query<{ market: string; isInBook: boolean }>(sql`
    WITH own AS (
      SELECT id FROM open_orders WHERE tenant_id = ${tenantId} AND wallet_id = ${walletId} AND ${condition}
      ORDER BY id FOR UPDATE)
    UPDATE open_orders p SET cancel_requested = true FROM own WHERE p.tenant_id = ${tenantId} AND p.id = own.id
    RETURNING p.market, p.sequence IS NOT NULL AS "isInBook"
  `);
  return [...new Set(rows.filter(({ isInBook }) => isInBook).map(({ market }) => market))];
}

/** That a wallet is frozen, and not unfrozen again meanwhile. */
export function isFrozen(tenantId: string, walletId: string): Statement {
  return sql`EXISTS (SELECT FROM wallets w WHERE w.tenant_id = ${tenantId} AND w.id = ${walletId} AND w.frozen)`;
}
