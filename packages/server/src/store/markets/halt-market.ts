import type { AuditDraft } from "../../app/audit/audit-entry.js";
import type { MarketStore } from "../../app/markets/market-store.js";
import { appendAudit } from "../access/audit.js";
import type { Database, Queryable } from "../core/database.js";
import { messageOf } from "../core/rows/failures.js";
import { hasKey, listKeys } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { bandColumns, removeForgedBand, type StoredBand } from "./band-integrity.js";
import { lockMarket } from "./market-leases.js";
import { type OrderKey, setAsideWith } from "./order-integrity.js";

export function createMarketHalts(database: Database): Pick<MarketStore, "halt" | "setAsideFaulty"> {
  return {
    halt: (lease, { reason, at, entry }) =>
      database.transaction(async (tx) => {
        await lockMarket(tx, lease);
        tx.send(
          sql`UPDATE markets SET halted_reason = ${reason}, halted_at = ${at} WHERE market = ${lease.market}`,
        );
        await appendAudit(tx, [entry]);
      }),
    setAsideFaulty: (lease, orders, error) =>
      database.transaction(async (tx) => {
        await lockMarket(tx, lease);
        const found = await findFaulty(tx, lease.market, orders);
        const faulty = found.length === 0 && orders.length === 1 ? orders : found;
        const fault = `${messageOf(error)}. The order is not in the book. Repair what the error names, retry the order, and restart the process that runs the market.`;
        if (faulty.length > 0)
          setAsideWith(
            tx,
            faulty,
            faulty.map(() => fault),
          );
        return faulty.length;
      }),
  };
}

/**
 * Orders whose tenant has events beyond its counter, so that its next event has a sequence that there is already, or whose account does not
 * hold what they hold. Served by primary keys.
 */
async function findFaulty(
  source: Queryable,
  market: string,
  orders: readonly OrderKey[],
): Promise<OrderKey[]> {
  return await source.query<OrderKey>(sql`
    SELECT p.tenant_id AS "tenantId", p.id
    FROM ${listKeys(orders)}
    CROSS JOIN LATERAL (SELECT * FROM open_orders p WHERE ${hasKey(sql`p`, sql`given`)} LIMIT 1) AS p
    CROSS JOIN LATERAL (SELECT * FROM markets m WHERE m.market = ${market} LIMIT 1) AS m
    WHERE coalesce((SELECT e.sequence FROM events e WHERE e.tenant_id = p.tenant_id ORDER BY e.sequence DESC LIMIT 1), 0)
        > coalesce((SELECT s.sequence FROM event_sequences s WHERE s.tenant_id = p.tenant_id), 0)
      OR p.held > coalesce((
        SELECT a.held FROM ledger_accounts a
        WHERE a.tenant_id = p.tenant_id AND a.account_id = p.wallet_id AND a.asset = CASE p.side WHEN 'buy' THEN m.quote ELSE m.base END), 0)
  `);
}

export interface ListedMarket {
  market: string;
  haltedReason: string | null;
  haltedAt: Date | null;
}

/** All of them; a service has a handful. */
export async function listMarkets(source: Queryable): Promise<ListedMarket[]> {
  return await source.query<ListedMarket>(sql`
    SELECT market, halted_reason AS "haltedReason", halted_at AS "haltedAt" FROM markets ORDER BY market
  `);
}

/** Their names; a service has a handful of markets. */
export async function findHaltedMarkets(source: Queryable): Promise<string[]> {
  const rows = await source.query<{ market: string }>(
    sql`SELECT market FROM markets WHERE halted_reason IS NOT NULL ORDER BY market`,
  );
  return rows.map(({ market }) => market);
}

/** Ends the halt of a market. The process that holds its lease loads it within a second. Served by the primary key. */
export function resumeMarket(
  database: Database,
  market: string,
  entry: AuditDraft,
): Promise<"resumed" | "unchanged" | "unknown"> {
  return database.transaction(async (tx) => {
    const [row] = await tx.query<StoredBand & { isHalted: boolean }>(sql`
      SELECT halted_reason IS NOT NULL AS "isHalted", ${bandColumns} FROM markets WHERE market = ${market} FOR NO KEY UPDATE
    `);
    if (row === undefined) return "unknown";
    if (!row.isHalted) return "unchanged";
    tx.send(sql`UPDATE markets SET halted_reason = NULL, halted_at = NULL WHERE market = ${market}`);
    removeForgedBand(tx, market, row);
    await appendAudit(tx, [entry]);
    return "resumed";
  });
}
