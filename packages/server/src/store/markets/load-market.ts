import { setImmediate as nextTurn } from "node:timers/promises";
import type { OpenOrder, PriceBand, Side } from "@bursar/domain";
import type {
  LoadedMarket,
  MarketCommand,
  MarketStore,
  PlacedOrder,
} from "../../app/markets/market-store.js";
import { type Database, type KeyedQueryable, requireKeys, type Tx } from "../core/database.js";
import { expiry } from "../core/rows/leases.js";
import { hasKey, joinByKey } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { lockMarket } from "./market-leases.js";
import { isOrderAuthentic, type StoredOrder, setAsideTampered, storedColumns } from "./order-integrity.js";

/** Reads a market under its lease, so that no other process changes it meanwhile. */
export function createMarketLoader(database: Database): Pick<MarketStore, "load"> {
  return {
    load: (lease, durationMs) =>
      database.transaction(async (tx): Promise<LoadedMarket> => {
        const { admittedSequence, appliedSequence } = await lockMarket(tx, lease);
        const orders = await readResting(tx, lease.market);
        const { waiting, acceptedMs } = await readWaiting(tx, lease.market, appliedSequence);
        const [{ changedAt, band } = { changedAt: new Date(0), band: null }] = await tx.query<{
          changedAt: Date;
          band: PriceBand | null;
        }>(sql`SELECT levels_changed_at AS "changedAt", band FROM markets WHERE market = ${lease.market}`);
        // At the end, because reading a large book takes long: a process that waits for this row would find the lease expired.
        const validMs = durationMs + orders.length * restoringMs;
        tx.send(sql`UPDATE markets SET expires_at = ${expiry(validMs)} WHERE market = ${lease.market}`);
        const notBefore = new Date(Math.max(changedAt.getTime(), acceptedMs));
        return { orders, waiting, band, notBefore, position: { admittedSequence, appliedSequence } };
      }),
  };
}

/** An upper bound for putting one order into the book: 3 to 8 µs were measured on a busy machine. */
const restoringMs = 0.02;

interface RestingRow extends StoredOrder {
  number: string;
  side: Side;
  price: string;
  size: string;
  filled: string;
  hasFailed: boolean;
}

/**
 * By priority, which is the sequence of the command that placed an order. One whose row was changed is left out, and set aside for the
 * operator. Served by open_orders_resting and the primary key.
 */
async function readResting(tx: Tx, market: string): Promise<OpenOrder[]> {
  const rows = await tx.query<RestingRow>(sql`
    SELECT p.sequence AS number, p.id, p.tenant_id AS "tenantId", p.side, p.price, p.size, p.filled,
      p.last_error IS NOT NULL AS "hasFailed", ${storedColumns}
    FROM open_orders p ${joinByKey(sql`orders`, sql`o`, sql`p`)}
    WHERE p.market = ${market} AND p.state IN ('open', 'partially_filled') ORDER BY p.sequence
  `);
  const { sound, tampered } = await verify(tx, rows);
  setAsideTampered(tx, tampered);
  for (const { tenantId, id } of sound.filter(({ hasFailed }) => hasFailed))
    tx.send(sql`
      UPDATE open_orders SET attempts = 0, last_error = NULL, retry_at = NULL WHERE tenant_id = ${tenantId} AND id = ${id}
    `);
  return sound.map(({ id, tenantId: owner, side, ...row }) => {
    const [number, price, size] = [Number(row.number), Number(row.price), Number(row.size)];
    return { number, id, owner, side, price, size, remaining: size - Number(row.filled) };
  });
}

/** Verified in one turn of the event loop: some milliseconds. */
const sliceSize = 500;

async function verify<Row extends StoredOrder>(
  tx: KeyedQueryable,
  rows: readonly Row[],
): Promise<{ sound: Row[]; tampered: Row[] }> {
  const keys = requireKeys(tx);
  const sound: Row[] = [];
  const tampered: Row[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % sliceSize === sliceSize - 1) await nextTurn();
    (isOrderAuthentic(keys, row) ? sound : tampered).push(row);
  }
  return { sound, tampered };
}

interface CommandRow extends StoredOrder {
  sequence: string;
  orderId: string;
  orderNumber: string;
  kind: MarketCommand["kind"];
  amendSize: string | null;
  actorId: string | null;
  priceLimit: string | null;
  acceptedAt: Date;
  order: Omit<PlacedOrder, "quoteSize"> & { quoteSize: string | null };
}

/**
 * Commands of the log that were not executed; an order that is final has no number any more. One that places an order whose row was changed
 * places nothing. Served by the primary keys.
 */
async function readWaiting(
  tx: Tx,
  market: string,
  appliedSequence: number,
): Promise<{ waiting: MarketCommand[]; acceptedMs: number }> {
  const rows = await tx.query<CommandRow>(sql`
    SELECT c.sequence, c.tenant_id AS "tenantId", c.order_id AS "orderId", c.order_id AS id, ${storedColumns},
      coalesce(p.sequence, 0) AS "orderNumber", c.kind, c.size AS "amendSize", c.actor_id AS "actorId",
      c.price_limit AS "priceLimit", o.created_at AS "acceptedAt",
      jsonb_build_object('side', o.side, 'type', o.type, 'timeInForce', o.time_in_force, 'selfTrade', o.self_trade,
        'price', o.price, 'size', o.size, 'quoteSize', o.quote_size::text) AS "order"
    FROM (
      SELECT *, order_id AS id FROM market_commands WHERE market = ${market} AND sequence > ${appliedSequence}
      ORDER BY sequence OFFSET 0) AS c
    ${joinByKey(sql`orders`, sql`o`, sql`c`)}
    LEFT JOIN LATERAL (SELECT * FROM open_orders p WHERE ${hasKey(sql`p`, sql`c`)} LIMIT 1) AS p ON true
    ORDER BY c.sequence
  `);
  const acceptedMs = Math.max(0, ...rows.map(({ acceptedAt }) => acceptedAt.getTime()));
  const { tampered } = await verify(
    tx,
    rows.filter(({ kind }) => kind === "place"),
  );
  setAsideTampered(tx, tampered);
  const left = new Set(tampered);
  return { waiting: rows.map((row) => (left.has(row) ? placeNothing(row) : toCommand(row))), acceptedMs };
}

/** It keeps its place in the log, and cancels an order that is not in the book. */
function placeNothing({ tenantId, orderId, sequence, actorId }: CommandRow): MarketCommand {
  return { kind: "cancel", sequence: Number(sequence), tenantId, orderId, orderNumber: 0, actorId };
}

function toCommand({
  tenantId,
  orderId,
  kind,
  amendSize,
  actorId,
  priceLimit,
  order,
  ...row
}: CommandRow): MarketCommand {
  const [sequence, orderNumber] = [Number(row.sequence), Number(row.orderNumber)];
  const common = { sequence, tenantId, orderId, orderNumber, actorId };
  switch (kind) {
    case "place": {
      const quoteSize = order.quoteSize === null ? null : BigInt(order.quoteSize);
      // A command from before there were limits has none.
      return {
        ...common,
        kind,
        order: { ...order, quoteSize },
        priceLimit: priceLimit === null ? null : Number(priceLimit),
      };
    }
    case "cancel":
      return { ...common, kind };
    case "amend":
      return { ...common, kind, size: Number(amendSize) };
  }
}
