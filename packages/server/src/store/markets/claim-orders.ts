import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { ClaimedOrder, OrderClaim } from "../../app/markets/market-store.js";
import { readStops, type StopColumns, stopColumns } from "../access/stops/stop-records.js";
import { type Queryable, requireKeys, type Tx } from "../core/database.js";
import type { FailureTable } from "../core/rows/failures.js";
import { joinByKey } from "../core/rows/locate-rows.js";
import { waitingTenants } from "../core/rows/waiting-tenants.js";
import { type Statement, sql } from "../core/sql.js";
import { isWalletFrozen, joinWallet } from "../wallets/lock-wallets.js";
import {
  type EvidencedOrder,
  hasMoved,
  isAccepted,
  isProgressAuthentic,
  lastVersion,
  setAside,
  storedColumns,
} from "./order-integrity.js";

interface ClaimRow
  extends Omit<ClaimedOrder, "wallet" | "number" | "price" | "size" | "quoteSize" | "amendSize">,
    StopColumns,
    EvidencedOrder {
  walletId: string;
  /** Null if there is no such wallet. */
  knownWalletId: string | null;
  walletPurpose: ClaimedOrder["wallet"]["purpose"];
  walletNetwork: string;
  walletIsFrozen: boolean;
  number: string | null;
  price: string | null;
  size: string | null;
  quoteSize: string | null;
  amendSize: string | null;
}

/** Of open orders that could not be admitted. Those that have failed are served by open_orders_failed. */
export const orderFailures: FailureTable = {
  kind: "order",
  table: sql`open_orders`,
  attempts: sql`attempts`,
  retryAt: sql`retry_at`,
};

/** Orders that wait to be admitted. Served by open_orders_new. */
function newOrders(market: string | Statement, now: Date): Statement {
  return sql`o.market = ${market} AND o.sequence IS NULL AND ${isDue(now)}`;
}

/** Orders that a client wants to cancel or amend. Served by open_orders_to_change. */
function ordersToChange(market: string | Statement, now: Date): Statement {
  return sql`o.market = ${market} AND o.sequence IS NOT NULL AND (o.cancel_requested OR o.amend_size IS NOT NULL) AND ${isDue(now)}`;
}

/** One that failed waits for its next attempt. */
function isDue(now: Date): Statement {
  return sql`(o.retry_at IS NULL OR o.retry_at <= ${now}::timestamptz)`;
}

/** The markets that have orders to do: two looks for each, one into each index. */
export async function findMarketsToDo(
  source: Queryable,
  markets: readonly string[],
  now: Date,
): Promise<ReadonlySet<string>> {
  const given = sql`given.market`;
  const rows = await source.query<{ market: string }>(sql`
    SELECT given.market FROM unnest(${[...markets]}::text[]) AS given (market)
    WHERE EXISTS (SELECT FROM open_orders o WHERE ${newOrders(given, now)})
      OR EXISTS (SELECT FROM open_orders o WHERE ${ordersToChange(given, now)})
  `);
  return new Set(rows.map(({ market }) => market));
}

const claimColumns = sql`o.tenant_id, o.id, o.sequence, o.needs_judgement, o.cancel_requested, o.amend_size, o.change_requested_by, o.market,
  o.wallet_id, o.side, o.price, o.size, o.filled, o.state, o.version, o.quote_filled, o.fee, o.held, o.key_id, o.mac`;

/**
 * The same share for every tenant, so that one with many orders does not delay others. Rows that a cancellation or a freeze has locked are
 * skipped, and claimed when it is done.
 */
function claimOfTenants(where: Statement, limit: number): Statement {
  return sql`
    SELECT o.* FROM tenant CROSS JOIN LATERAL (
      SELECT ${claimColumns} FROM open_orders o WHERE ${where} AND o.tenant_id = tenant.tenant_id
      ORDER BY o.id LIMIT (SELECT ${limit}::bigint / count(*) FROM tenant) FOR UPDATE SKIP LOCKED) AS o`;
}

/**
 * New orders and changes are claimed apart, and take turns in being first: changes are of older orders, so with one order for both a tenant
 * that keeps changing its orders would keep new ones out. An order whose rows were changed, are missing, or are older than its events is set
 * aside. Served by open_orders_new, open_orders_to_change, events_by_subject and primary keys.
 */
export async function claimOrders(
  tx: Tx,
  market: string,
  { limit, afterTenantId, areNewFirst, now }: OrderClaim,
): Promise<ClaimedOrder[]> {
  const table = sql`open_orders`;
  const key = sql`o.id`;
  const range = { limit, after: afterTenantId === undefined ? undefined : sql`${afterTenantId}::uuid` };
  const [fresh, changed] = [newOrders(market, now), ordersToChange(market, now)];
  const rows = await tx.query<ClaimRow>(sql`
    WITH RECURSIVE waiting AS (${waitingTenants({ table, where: fresh, key }, range)}),
    changing AS (${waitingTenants({ table, where: changed, key, name: sql`changing` }, range)}),
    tenant AS (
      SELECT tenant_id FROM (SELECT tenant_id FROM waiting UNION SELECT tenant_id FROM changing) AS either
      ORDER BY tenant_id LIMIT ${limit}),
    fresh AS MATERIALIZED (${claimOfTenants(fresh, limit)}),
    changed AS MATERIALIZED (${claimOfTenants(changed, limit)}),
    claimed AS MATERIALIZED (
      SELECT * FROM (SELECT * FROM fresh UNION ALL SELECT * FROM changed) AS either
      ORDER BY (sequence IS NULL) <> ${areNewFirst}::boolean, id LIMIT ${limit})
    SELECT c.tenant_id AS "tenantId", c.id, o.client_id AS "clientId", o.side, o.type,
      c.wallet_id AS "walletId", w.id AS "knownWalletId", w.purpose AS "walletPurpose", w.network AS "walletNetwork", ${isWalletFrozen} AS "walletIsFrozen",
      o.time_in_force AS "timeInForce", o.self_trade AS "selfTrade", o.price, o.size, o.quote_size AS "quoteSize",
      EXISTS (SELECT FROM clients d WHERE d.id = o.client_id AND d.state = 'disabled')
        OR EXISTS (SELECT FROM tenants s WHERE s.id = o.tenant_id AND s.suspended_at IS NOT NULL) AS "isHeld",
      ${stopColumns(sql`o`, sql`o.wallet_id`)},
      o.created_at AS "createdAt", c.sequence AS number, ${storedColumns}, ${lastVersion(sql`c`)},
      c.cancel_requested AS "cancelRequested", c.amend_size AS "amendSize", c.change_requested_by AS "changeRequestedBy"
    FROM claimed c CROSS JOIN LATERAL (SELECT c.*) AS p
    LEFT ${joinByKey(sql`orders`, sql`o`, sql`c`)}
    LEFT ${joinWallet(sql`c`, sql`c.wallet_id`)}
    ORDER BY c.id
  `);
  const keys = requireKeys(tx);
  const sound = rows.filter((row) => isSound(keys, row));
  if (sound.length < rows.length)
    setAside(
      tx,
      rows.filter((row) => !sound.includes(row)),
    );
  return sound.map((row) => readClaim(keys, row));
}

/** An amendment that the book could not read is of no client. */
function isSound(keys: IntegrityKeys, row: ClaimRow): boolean {
  if (row.knownWalletId === null || hasMoved(row)) return false;
  if (row.amendSize !== null && !(Number(row.amendSize) >= 1)) return false;
  return row.number === null ? isAccepted(keys, row) : isProgressAuthentic(keys, row);
}

/** Field by field, because every command takes this path and spreading costs 3.5 µs. */
function readClaim(keys: IntegrityKeys, row: ClaimRow): ClaimedOrder {
  const stops = readStops(keys, row, row);
  return {
    tenantId: row.tenantId,
    id: row.id,
    clientId: row.clientId,
    wallet: {
      id: row.walletId,
      purpose: row.walletPurpose,
      network: row.walletNetwork,
      isFrozen: row.walletIsFrozen || stops.isFrozen,
    },
    // A forged record is of one of the three, and stops the order.
    isHeld: row.isHeld || stops.isHeld || stops.isForged,
    side: row.side,
    type: row.type,
    timeInForce: row.timeInForce,
    selfTrade: row.selfTrade,
    price: toNumber(row.price),
    size: toNumber(row.size),
    quoteSize: row.quoteSize === null ? null : BigInt(row.quoteSize),
    createdAt: row.createdAt,
    number: toNumber(row.number),
    content: row.content,
    needsJudgement: row.needsJudgement,
    cancelRequested: row.cancelRequested,
    amendSize: toNumber(row.amendSize),
    changeRequestedBy: row.changeRequestedBy,
  };
}

function toNumber(digits: string | null): number | null {
  return digits === null ? null : Number(digits);
}
