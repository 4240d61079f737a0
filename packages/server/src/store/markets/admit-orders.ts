import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { Balances } from "../../app/ledger/ledger-unit.js";
import type {
  Admission,
  ClaimedOrder,
  MarketCommand,
  NewCommand,
  OrderClaim,
} from "../../app/markets/market-store.js";
import { writeDetails } from "../../app/markets/order.js";
import { readStops, type StopColumns, stopColumns } from "../access/stop-records.js";
import { type Queryable, requireKeys, type Tx } from "../core/database.js";
import type { FailureTable } from "../core/rows/failures.js";
import { joinByKey, listKeys, locateRows } from "../core/rows/locate-rows.js";
import { waitingTenants } from "../core/rows/waiting-tenants.js";
import { type Statement, sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { writeBalances } from "../ledger/ledger.js";
import { countUsage } from "../policy/usage.js";
import { isWalletFrozen, joinWallet } from "../wallets/lock-wallets.js";
import { isOrderAuthentic, type StoredOrder, setAsideTampered, storedColumns } from "./order-integrity.js";

interface ClaimRow
  extends Omit<ClaimedOrder, "wallet" | "number" | "price" | "size" | "quoteSize" | "amendSize">,
    StopColumns,
    StoredOrder {
  walletId: string;
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
  o.wallet_id, o.side, o.price, o.size, o.filled`;

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
 * that keeps changing its orders would keep new ones out. Served by open_orders_new, open_orders_to_change and primary keys.
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
    SELECT o.tenant_id AS "tenantId", o.id, o.client_id AS "clientId", o.side, o.type,
      w.id AS "walletId", w.purpose AS "walletPurpose", w.network AS "walletNetwork", ${isWalletFrozen} AS "walletIsFrozen",
      o.time_in_force AS "timeInForce", o.self_trade AS "selfTrade", o.price, o.size, o.quote_size AS "quoteSize",
      EXISTS (SELECT FROM clients d WHERE d.id = o.client_id AND d.state = 'disabled')
        OR EXISTS (SELECT FROM tenants s WHERE s.id = o.tenant_id AND s.suspended_at IS NOT NULL) AS "isHeld",
      ${stopColumns(sql`o`, sql`o.wallet_id`)},
      o.created_at AS "createdAt", c.sequence AS number, ${storedColumns},
      c.cancel_requested AS "cancelRequested", c.amend_size AS "amendSize", c.change_requested_by AS "changeRequestedBy"
    FROM claimed c CROSS JOIN LATERAL (SELECT c.*) AS p
    ${joinByKey(sql`orders`, sql`o`, sql`c`)}
    ${joinWallet(sql`o`, sql`o.wallet_id`)}
    ORDER BY o.id
  `);
  const keys = requireKeys(tx);
  const sound = rows.filter((row) => isOrderAuthentic(keys, row));
  if (sound.length < rows.length)
    setAsideTampered(
      tx,
      rows.filter((row) => !sound.includes(row)),
    );
  return sound.map((row) => readClaim(keys, row));
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
    needsJudgement: row.needsJudgement,
    cancelRequested: row.cancelRequested,
    amendSize: toNumber(row.amendSize),
    changeRequestedBy: row.changeRequestedBy,
  };
}

function toNumber(digits: string | null): number | null {
  return digits === null ? null : Number(digits);
}

/** Writes the commands of admitted orders, the ends of rejected ones, and what both do to the ledger and to limits. */
export async function writeAdmission(
  tx: Tx,
  log: EventLog,
  { market, admittedSequence }: { market: string; admittedSequence: number },
  claimed: readonly ClaimedOrder[],
  admission: Admission,
  balances: Balances,
): Promise<MarketCommand[]> {
  const commands = numberCommands(admission.commands, claimed, admittedSequence);
  writeBalances(tx, balances);
  writeCommands(tx, market, commands);
  writeOrders(tx, claimed, admission, commands);
  writeJudgements(tx, admission);
  const { rejected, counted } = admission;
  if (counted.length > 0)
    log.lock(
      tx,
      [...counted, ...rejected.map(({ order }) => order)].map((one) => one.tenantId),
    );
  await rejectOrders(tx, log, admission);
  countUsage(tx, counted);
  return commands;
}

/** Commands get their sequence, and new orders with it their number. */
function numberCommands(
  commands: readonly NewCommand[],
  claimed: readonly ClaimedOrder[],
  admittedSequence: number,
): MarketCommand[] {
  const numbers = new Map(claimed.map(({ id, number }) => [id, number]));
  return commands.map((command, index) => {
    const sequence = admittedSequence + index + 1;
    if (command.kind === "place") numbers.set(command.orderId, sequence);
    const orderNumber = numbers.get(command.orderId) ?? null;
    if (orderNumber === null)
      throw new Error(`a command refers to an order that was never placed: ${command.orderId}`);
    return { ...command, sequence, orderNumber };
  });
}

function writeCommands(tx: Tx, market: string, commands: readonly MarketCommand[]): void {
  const last = commands.at(-1);
  if (last === undefined) return;
  const column = <T>(pick: (command: MarketCommand) => T) => commands.map(pick);
  tx.send(sql`UPDATE markets SET admitted_sequence = ${last.sequence} WHERE market = ${market}`);
  tx.send(sql`
    INSERT INTO market_commands (market, sequence, tenant_id, order_id, kind, size, actor_id, price_limit)
    SELECT ${market}, * FROM unnest(
      ${column((c) => c.sequence)}::bigint[], ${column((c) => c.tenantId)}::uuid[], ${column((c) => c.orderId)}::uuid[],
      ${column((c) => c.kind)}::text[], ${column((c) => (c.kind === "amend" ? c.size : null))}::bigint[],
      ${column((c) => c.actorId)}::uuid[], ${column((c) => (c.kind === "place" ? c.priceLimit : null))}::bigint[])
  `);
}

/** New orders get their place and their hold; what clients asked for has become a command. */
function writeOrders(
  tx: Tx,
  claimed: readonly ClaimedOrder[],
  { holds }: Admission,
  commands: readonly MarketCommand[],
): void {
  const numbers = new Map(commands.map(({ orderId, orderNumber }) => [orderId, orderNumber]));
  const admitted = claimed.filter(({ id }) => numbers.has(id));
  if (admitted.length === 0) return;
  tx.send(sql`
    UPDATE open_orders p SET sequence = a.sequence, held = p.held + a.held, cancel_requested = false,
      amend_size = NULL, change_requested_by = NULL, attempts = 0, last_error = NULL, retry_at = NULL
    FROM ${locateRows(
      sql`open_orders`,
      sql`unnest(
      ${admitted.map((o) => o.tenantId)}::uuid[], ${admitted.map((o) => o.id)}::uuid[],
      ${admitted.map((o) => numbers.get(o.id) ?? null)}::bigint[], ${admitted.map((o) => holds.get(o.id) ?? 0n)}::numeric[]
    ) AS given (tenant_id, id, sequence, held)`,
    )} AS a WHERE p.ctid = a.place
  `);
}

function writeJudgements(tx: Tx, { judged, occurredAt }: Admission): void {
  if (judged.length === 0) return;
  const column = <T>(pick: (one: Admission["judged"][number]) => T) => judged.map(pick);
  tx.send(sql`
    INSERT INTO order_judgements (tenant_id, order_id, policy_version, rule, reason, judged_at)
    SELECT tenant_id, order_id, policy_version, rule, reason, ${occurredAt} FROM unnest(
      ${column(({ order }) => order.tenantId)}::uuid[], ${column(({ order }) => order.id)}::uuid[],
      ${column(({ judgement }) => judgement.policyVersion)}::integer[], ${column(({ judgement }) => judgement.rule)}::text[],
      ${column(({ judgement }) => judgement.reason)}::text[]
    ) AS judged (tenant_id, order_id, policy_version, rule, reason)
  `);
}

/** What becomes of the orders that are rejected. */
export function changesOfRejected({ rejected }: Admission) {
  return rejected.map(({ order: { tenantId, id, size }, failure }) => ({
    ...{ tenantId, id, size, failure },
    version: 2,
    state: "rejected" as const,
    previousState: "pending" as const,
  }));
}

async function rejectOrders(tx: Tx, log: EventLog, admission: Admission): Promise<void> {
  const { rejected, occurredAt } = admission;
  if (rejected.length === 0) return;
  tx.send(sql`
    DELETE FROM open_orders WHERE ctid = ANY (ARRAY(
      SELECT place FROM ${locateRows(sql`open_orders`, listKeys(rejected.map(({ order }) => order)))} AS done))
  `);
  await log.append(
    tx,
    changesOfRejected(admission).map(({ tenantId, id, size, version, state, previousState, failure }) => ({
      tenantId,
      event: "order.updated" as const,
      subjectId: id,
      version,
      state,
      previousState,
      failureCode: failure,
      occurredAt,
      details: writeDetails({ size, filled: 0, quoteFilled: 0n, fee: 0n }),
    })),
  );
}
