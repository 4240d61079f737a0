import type { OpenOrder, PriceBand, Side } from "@bursar/domain";
import type {
  LoadedMarket,
  MarketCommand,
  MarketStore,
  PlacedOrder,
} from "../../app/markets/market-store.js";
import type { Database, Queryable } from "../core/database.js";
import { expiry } from "../core/rows/leases.js";
import { hasKey, joinByKey } from "../core/rows/locate-rows.js";
import { sql } from "../core/sql.js";
import { lockMarket } from "./market-leases.js";

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

/** By priority, which is the sequence of the command that placed an order. Served by open_orders_resting. */
async function readResting(tx: Queryable, market: string): Promise<OpenOrder[]> {
  const rows = await tx.query<{
    number: string;
    id: string;
    owner: string;
    side: Side;
    price: string;
    size: string;
    filled: string;
  }>(sql`
    SELECT sequence AS number, id, tenant_id AS owner, side, price, size, filled FROM open_orders
    WHERE market = ${market} AND state IN ('open', 'partially_filled') ORDER BY sequence
  `);
  return rows.map(({ id, owner, side, ...row }) => {
    const [number, price, size] = [Number(row.number), Number(row.price), Number(row.size)];
    return { number, id, owner, side, price, size, remaining: size - Number(row.filled) };
  });
}

interface CommandRow {
  sequence: string;
  tenantId: string;
  orderId: string;
  orderNumber: string;
  kind: MarketCommand["kind"];
  amendSize: string | null;
  actorId: string | null;
  priceLimit: string | null;
  acceptedAt: Date;
  order: Omit<PlacedOrder, "quoteSize"> & { quoteSize: string | null };
}

/** Commands of the log that were not executed; an order that is final has no number any more. Served by the primary keys. */
async function readWaiting(
  tx: Queryable,
  market: string,
  appliedSequence: number,
): Promise<{ waiting: MarketCommand[]; acceptedMs: number }> {
  const rows = await tx.query<CommandRow>(sql`
    SELECT c.sequence, c.tenant_id AS "tenantId", c.order_id AS "orderId",
      coalesce(p.sequence, 0) AS "orderNumber", c.kind, c.size AS "amendSize", c.actor_id AS "actorId",
      c.price_limit AS "priceLimit", o.created_at AS "acceptedAt",
      jsonb_build_object('side', o.side, 'type', o.type, 'timeInForce', o.time_in_force, 'selfTrade', o.self_trade,
        'price', o.price, 'size', o.size, 'quoteSize', o.quote_size::text) AS "order"
    FROM (
      SELECT *, order_id AS id FROM market_commands WHERE market = ${market} AND sequence > ${appliedSequence}
      ORDER BY sequence OFFSET 0) AS c
    ${joinByKey(sql`orders`, sql`o`, sql`c`)}
    LEFT JOIN LATERAL (SELECT p.sequence FROM open_orders p WHERE ${hasKey(sql`p`, sql`c`)} LIMIT 1) AS p ON true
    ORDER BY c.sequence
  `);
  const acceptedMs = Math.max(0, ...rows.map(({ acceptedAt }) => acceptedAt.getTime()));
  return { waiting: rows.map(toCommand), acceptedMs };
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
