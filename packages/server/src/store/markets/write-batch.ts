import { centreOf, type OrderState, orderStates, type Side } from "@bursar/domain";
import type { IntegrityKeys } from "../../app/access/integrity-keys.js";
import type { Balances } from "../../app/ledger/ledger-unit.js";
import {
  type LockedKey,
  type MarketDelta,
  type MatchedBatch,
  type OpenOrderRow,
  type OrderChange,
  type PlacedKey,
  TamperedOrderError,
} from "../../app/markets/market-store.js";
import { writeDetails } from "../../app/markets/order.js";
import { marketStopColumns, readStops, type StopColumns } from "../access/stops/stop-records.js";
import { type KeyedQueryable, requireKeys, type Tx } from "../core/database.js";
import { hasKey, joinByKey, listKeys, locateRows } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import type { EventLog } from "../events/events.js";
import { writeBalances, writeEntries } from "../ledger/ledger.js";
import { setBand } from "./band-integrity.js";
import type { MarketPosition } from "./market-leases.js";
import {
  isProgressAuthentic,
  type LockedOrder,
  macOfProgress,
  type StoredOrder,
  storedColumns,
} from "./order-integrity.js";
import { writeTrades } from "./trades.js";

/**
 * Locks orders in the order in which a freeze locks a wallet's orders, and gives their contents to `onLocked`. An order that was placed by
 * one of these commands must be as the command says; any other as the service has left it. An older row of an order is not noticed here: its
 * event would have a version that there is already, so the database refuses it. Served by primary keys.
 */
export async function lockOrders(
  tx: KeyedQueryable,
  keys: readonly LockedKey[],
  onLocked: (id: string, locked: LockedOrder) => void,
): Promise<OpenOrderRow[]> {
  if (keys.length === 0) return [];
  const rows = await tx.query<OrderRow>(sql`
    SELECT p.tenant_id AS "tenantId", p.id, p.wallet_id AS "walletId", p.side, p.price, p.state, p.size, p.filled, p.sequence AS number,
      p.quote_filled AS "quoteFilled", p.fee, p.held, w.frozen AS "walletIsFrozen", o.client_id AS "clientId", ${storedColumns},
      ${marketStopColumns(sql`o`)}
    FROM (SELECT * FROM ${listKeys(keys)} ORDER BY tenant_id, id) AS wanted
    CROSS JOIN LATERAL (SELECT * FROM open_orders p WHERE ${hasKey(sql`p`, sql`wanted`)} FOR UPDATE) AS p
    CROSS JOIN LATERAL (SELECT w.frozen FROM wallets w WHERE ${hasKey(sql`w`, sql`p`, sql`p.wallet_id`)} LIMIT 1) AS w
    ${joinByKey(sql`orders`, sql`o`, sql`p`)}
  `);
  const integrity = requireKeys(tx);
  const placed = new Map(keys.map((key) => [key.id, key.placed]));
  const found = new Set<string>();
  for (const row of rows) {
    const command = placed.get(row.id);
    const isSound = command === undefined ? isProgressAuthentic(integrity, row) : isAsPlaced(row, command);
    // The market is loaded again, and leaves it out.
    if (!isSound)
      throw new TamperedOrderError(`${row.id} was changed in the database by something other than Bursar`);
    found.add(row.id);
    onLocked(row.id, row);
  }
  const missing = keys.find(({ id }) => !found.has(id));
  if (missing !== undefined)
    throw new TamperedOrderError(`${missing.id} was deleted in the database by something other than Bursar`);
  return rows.map((row) => toOpenOrder(integrity, row));
}

/** Its content was authenticated when the command was admitted or loaded, which saves doing it again. */
function isAsPlaced(row: OrderRow, { content, held, number }: PlacedKey): boolean {
  return (
    row.isSame === true &&
    row.isUntouched === true &&
    row.content === content &&
    row.held === String(held) &&
    row.number === String(number)
  );
}

/** Field by field, because every order that a command touches takes this path. */
function toOpenOrder(keys: IntegrityKeys, row: OrderRow): OpenOrderRow {
  const { isFrozen, isHeld, isForged } = readStops(keys, row, row);
  return {
    tenantId: row.tenantId,
    id: row.id,
    walletId: row.walletId,
    walletIsFrozen: row.walletIsFrozen || isFrozen,
    isStopped: isFrozen || isHeld || isForged,
    side: row.side,
    price: row.price === null ? null : Number(row.price),
    state: row.state,
    version: row.version,
    size: row.size === null ? null : Number(row.size),
    filled: Number(row.filled),
    quoteFilled: BigInt(row.quoteFilled),
    fee: BigInt(row.fee),
    held: BigInt(row.held),
  };
}

interface OrderRow extends StoredOrder, StopColumns {
  walletId: string;
  clientId: string | null;
  walletIsFrozen: boolean;
  number: string;
  side: Side;
  state: OrderState;
  version: number;
  price: string | null;
  size: string | null;
  filled: string;
  quoteFilled: string;
  fee: string;
  held: string;
}

export interface LockedMarket {
  market: string;
  position: MarketPosition;
  /** The orders that `lockOrders` has locked, by their ids. */
  locked: ReadonlyMap<string, LockedOrder>;
}

/** Writes what commands have done: orders, trades, entries and balances, the market's position, and the events. */
export async function writeBatch(
  tx: Tx,
  log: EventLog,
  { market, position, locked }: LockedMarket,
  batch: MatchedBatch,
  balances: Balances,
): Promise<MarketDelta | undefined> {
  const { changes, trades, entries, occurredAt } = batch;
  writeOrders(tx, changes, locked);
  writeTrades(tx, market, position.tradeSequence, trades, occurredAt);
  writeEntries(tx, entries);
  writeBalances(tx, balances);
  const delta = deltaOf(market, position, batch);
  writePosition(tx, market, position, batch, delta);
  await log.append(tx, changes.map(toEvent(occurredAt)));
  return delta;
}

function deltaOf(
  market: string,
  { levelSequence: previousSequence }: MarketPosition,
  { sequence, levelChanges, band, occurredAt }: MatchedBatch,
): MarketDelta | undefined {
  if (levelChanges.length === 0) return undefined;
  return { market, sequence, previousSequence, changes: levelChanges, centre: centreOf(band), occurredAt };
}

// Served by primary keys.
function writePosition(
  tx: Tx,
  market: string,
  { tradeSequence }: MarketPosition,
  { sequence, trades, band }: MatchedBatch,
  delta: MarketDelta | undefined,
): void {
  const levels =
    delta === undefined
      ? sql``
      : sql`, level_sequence = ${delta.sequence}::bigint, levels_changed_at = ${delta.occurredAt}`;
  const traded = trades.length === 0 ? sql`` : sql`, ${setBand(requireKeys(tx), market, band)}`;
  tx.send(sql`
    UPDATE markets SET applied_sequence = ${sequence}::bigint, trade_sequence = ${tradeSequence + trades.length}::bigint${levels}${traded}
    WHERE market = ${market}
  `);
  if (delta === undefined) return;
  tx.send(sql`
    INSERT INTO market_deltas (market, sequence, previous_sequence, changes, centre, occurred_at)
    VALUES (${market}, ${delta.sequence}, ${delta.previousSequence}, ${JSON.stringify(delta.changes)}::jsonb, ${delta.centre},
      ${delta.occurredAt})
  `);
}

/** What is final is no longer open. Of several changes of an order the last one is what it is now. */
function writeOrders(
  tx: Tx,
  changes: readonly OrderChange[],
  locked: ReadonlyMap<string, LockedOrder>,
): void {
  const keys = requireKeys(tx);
  const macOf = (order: OrderChange) => {
    const known = locked.get(order.id);
    if (known === undefined) throw new Error(`an order was changed that was not locked: ${order.id}`);
    return `\\x${macOfProgress(keys, order, known, order)}`;
  };
  const last = [...new Map(changes.map((change) => [change.id, change])).values()];
  const done = last.filter(({ state }) => orderStates[state].final);
  const kept = last.filter(({ state }) => !orderStates[state].final);
  if (done.length > 0) {
    tx.send(sql`
      DELETE FROM open_orders WHERE ctid = ANY (ARRAY(
        SELECT place FROM ${locateRows(sql`open_orders`, listKeys(done))} AS done))
    `);
  }
  if (kept.length > 0) {
    tx.send(sql`
      UPDATE open_orders p SET state = k.state, version = k.version, size = k.size, filled = k.filled,
        quote_filled = k.quote_filled, fee = k.fee, held = k.held, key_id = ${keys.currentId}, mac = k.mac
      FROM ${locateRows(
        sql`open_orders`,
        sql`unnest(
        ${kept.map((o) => o.tenantId)}::uuid[], ${kept.map((o) => o.id)}::uuid[], ${kept.map((o) => o.state)}::text[],
        ${kept.map((o) => o.version)}::integer[], ${kept.map((o) => o.size)}::bigint[], ${kept.map((o) => o.filled)}::bigint[],
        ${kept.map((o) => o.quoteFilled)}::numeric[], ${kept.map((o) => o.fee)}::numeric[], ${kept.map((o) => o.held)}::numeric[],
        ${kept.map(macOf)}::bytea[]
      ) AS given (tenant_id, id, state, version, size, filled, quote_filled, fee, held, mac)`,
      )} AS k WHERE p.ctid = k.place
    `);
  }
}

function toEvent(occurredAt: Date) {
  return (change: OrderChange) => ({
    tenantId: change.tenantId,
    event: "order.updated" as const,
    subjectId: change.id,
    version: change.version,
    state: change.state,
    previousState: change.previousState,
    failureCode: change.failure,
    occurredAt,
    details: writeDetails(change),
    actorId: change.actorId,
  });
}
