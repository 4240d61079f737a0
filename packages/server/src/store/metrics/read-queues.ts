import type { MarketReading, QueueReading, Waiting } from "../../app/metrics/queue-reading.js";
import type { Queryable } from "../core/database.js";
import { waitingTenants } from "../core/rows/waiting-tenants.js";
import { type Statement, sql } from "../core/sql.js";

/** How far is counted, and how many tenants and endpoints are looked at. */
const countMax = 10_000;
const tenantsMax = 1000;
const endpointsMax = 2000;
const perEndpointMax = 1000;
const fewMax = 1000;

interface WaitingRow {
  count: number;
  /** Seconds since 1970. */
  oldest: number | null;
}

interface Row {
  transactions: Record<keyof QueueReading["transactions"], WaitingRow>;
  deliveries: Record<keyof QueueReading["deliveries"], WaitingRow>;
  deferredEvents: number;
  endpoints: QueueReading["endpoints"];
  failedOrders: number;
  markets: (Omit<MarketReading, "newOrders"> & { newOrders: WaitingRow })[];
  ledgerAudit: { finishedAt: number; violated: number } | null;
}

/**
 * Everything that the metrics show of the database, in one statement. Each part of it reads a bounded number of rows in the order of an
 * index, which a comment names.
 */
export async function readQueues(
  database: Queryable,
  markets: readonly string[],
  now: Date,
): Promise<QueueReading> {
  const [row] = await database.query<Row>(sql`
    WITH RECURSIVE waiting AS (${waitingTenants(acceptedRows, { limit: tenantsMax })}),
    -- Served by webhook_endpoints_enabled and clients_pkey. What waits for a client to be enabled does not wait for the senders.
    endpoints AS MATERIALIZED (
      SELECT e.tenant_id, e.id, e.failing_since IS NOT NULL AS is_failing FROM webhook_endpoints e
      WHERE e.state = 'enabled' AND NOT EXISTS (SELECT FROM clients c WHERE c.id = e.client_id AND c.state = 'disabled')
      ORDER BY e.tenant_id, e.id LIMIT ${endpointsMax}),
    due AS MATERIALIZED (${dueDeliveries(now)})
    SELECT json_build_object(
        'accepted', json_build_object('count', ${countOf(acceptedRows.where, sql`o.tenant_id, o.id`)},
          'oldest', (SELECT ${secondsOfId(sql`first`)} FROM waiting ORDER BY first LIMIT 1)),
        'awaiting_approval', json_build_object('count', ${countOf(isAwaitingApproval, sql`o.due_at`)}, 'oldest', NULL),
        'on_rail', ${waitingById(isOnRail)},
        'failed', ${waitingById(hasFailed)}) AS transactions,
      json_build_object('healthy', ${dueOf(sql`NOT is_failing`)}, 'failing', ${dueOf(sql`is_failing`)}) AS deliveries,
      ${deferredEvents} AS "deferredEvents",
      json_build_object('failing', (SELECT count(*) FROM endpoints WHERE is_failing),
        'disabledFailing', ${disabledEndpoints("failing")}, 'disabledGone', ${disabledEndpoints("gone")}) AS endpoints,
      ${readMarkets(markets)} AS markets,
      -- Served by open_orders_failed.
      (SELECT count(*)::integer FROM (
        SELECT FROM open_orders o WHERE o.last_error IS NOT NULL ORDER BY o.id LIMIT ${fewMax}) AS failed) AS "failedOrders",
      (SELECT json_build_object('finishedAt', extract(epoch FROM finished_at), 'violated', violated) FROM ledger_audits WHERE singleton)
        AS "ledgerAudit"
  `);
  if (row === undefined) throw new Error("a statement without a FROM has returned no row");
  return {
    ...row,
    transactions: mapValues(row.transactions, toWaiting),
    deliveries: mapValues(row.deliveries, toWaiting),
    markets: row.markets.map((market) => ({ ...market, newOrders: toWaiting(market.newOrders) })),
    ledgerAudit:
      row.ledgerAudit === null
        ? undefined
        : { ...row.ledgerAudit, finishedAt: new Date(row.ledgerAudit.finishedAt * 1000) },
  };
}

/** Served by open_transactions_to_do. */
const acceptedRows = {
  table: sql`open_transactions`,
  where: sql`o.state = 'accepted' AND o.retry_at IS NULL`,
  key: sql`o.id`,
};
/** Served by open_transactions_due. */
const isAwaitingApproval = sql`o.state = 'awaiting_approval' AND o.retry_at IS NULL`;
/** Served by open_transactions_on_rails. */
const isOnRail = sql`o.state IN ('processing', 'broadcast', 'confirming')`;

/** Served by open_transactions_failed. */
const hasFailed = sql`o.last_error IS NOT NULL`;

function countOf(where: Statement, order: Statement): Statement {
  return sql`(SELECT count(*) FROM (
    SELECT FROM open_transactions o WHERE ${where} ORDER BY ${order} LIMIT ${countMax}) AS counted)`;
}

/** Rows that an index has in the order of their ids, which is the order of their age. */
function waitingById(where: Statement): Statement {
  return sql`json_build_object('count', ${countOf(where, sql`o.id`)}, 'oldest', (
    SELECT ${secondsOfId(sql`o.id`)} FROM open_transactions o WHERE ${where} ORDER BY o.id LIMIT 1))`;
}

/**
 * Served by pending_deliveries_queue, one range for each endpoint. A first attempt is due since its event, whose time is in the id, and any
 * other since its due time.
 */
function dueDeliveries(now: Date): Statement {
  return sql`
    SELECT e.is_failing, CASE WHEN p.due_at = '-infinity' THEN ${secondsOfId(sql`p.id`)}
      ELSE extract(epoch FROM p.due_at) END AS since
    FROM endpoints e CROSS JOIN LATERAL (
      SELECT p.id, p.due_at FROM pending_deliveries p
      WHERE p.tenant_id = e.tenant_id AND p.endpoint_id = e.id AND p.due_at <= ${now}::timestamptz
      ORDER BY p.due_at, p.sequence LIMIT ${perEndpointMax}) AS p
    LIMIT ${countMax}`;
}

function dueOf(where: Statement): Statement {
  return sql`(SELECT json_build_object('count', count(*), 'oldest', min(since)) FROM due WHERE ${where})`;
}

/** Served by primary keys. */
const deferredEvents = sql`(
  SELECT coalesce(sum(s.sequence - b.done_sequence), 0)::float8
  FROM (SELECT * FROM delivery_backlogs ORDER BY tenant_id LIMIT ${tenantsMax}) AS b
  CROSS JOIN LATERAL (SELECT s.sequence FROM event_sequences s WHERE s.tenant_id = b.tenant_id LIMIT 1) AS s)`;

/** Served by webhook_endpoints_disabled. */
function disabledEndpoints(reason: "failing" | "gone"): Statement {
  return sql`(SELECT count(*) FROM (
    SELECT FROM webhook_endpoints e
    WHERE e.state = 'disabled' AND e.disabled_reason <> 'requested' AND e.disabled_reason = ${reason}
    ORDER BY e.disabled_reason, e.disabled_at LIMIT ${fewMax}) AS counted)`;
}

/**
 * The configured markets are few. Their new orders are served by open_orders_new, and their last command by the primary key: the sequence
 * that was given last can be further, because a recovery lifts it without a command.
 */
function readMarkets(names: readonly string[]): Statement {
  return sql`(
    SELECT coalesce(json_agg(json_build_object(
      'market', m.market, 'commands', greatest(0, last.sequence - m.applied_sequence), 'levelSequence', m.level_sequence,
      'isHeld', m.holder IS NOT NULL AND m.expires_at > clock_timestamp(), 'isHalted', m.halted_reason IS NOT NULL,
      'newOrders', json_build_object('count', fresh.count, 'oldest', fresh.oldest))), '[]')
    FROM unnest(${[...names]}::text[]) AS given (market)
    CROSS JOIN LATERAL (SELECT * FROM markets m WHERE m.market = given.market LIMIT 1) AS m
    LEFT JOIN LATERAL (
      SELECT c.sequence FROM market_commands c WHERE c.market = m.market ORDER BY c.sequence DESC LIMIT 1) AS last ON true
    CROSS JOIN LATERAL (
      SELECT count(*), min(${secondsOfId(sql`o.id`)}) AS oldest FROM (
        SELECT o.id FROM open_orders o WHERE o.market = m.market AND o.sequence IS NULL
        ORDER BY o.tenant_id, o.id LIMIT ${fewMax}) AS o) AS fresh)`;
}

/** The time in an id of version 7, in seconds since 1970. */
function secondsOfId(id: Statement): Statement {
  return sql`(('x' || left(replace(${id}::text, '-', ''), 12))::bit(48)::bigint / 1000.0)::float8`;
}

function toWaiting({ count, oldest }: WaitingRow): Waiting {
  return { count, oldest: oldest === null ? undefined : new Date(oldest * 1000) };
}

function mapValues<K extends string, T, U>(values: Record<K, T>, change: (value: T) => U): Record<K, U> {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, change(value as T)]),
  ) as Record<K, U>;
}
