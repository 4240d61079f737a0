import type { NewTrade } from "../../app/markets/market-store.js";
import type { Trade, TradeStore } from "../../app/markets/trade.js";
import type { Database, Tx } from "../core/database.js";
import { sql } from "../core/sql.js";

type TradeRow = Omit<Trade, "sequence" | "price" | "size"> & Record<"sequence" | "price" | "size", string>;

/** Every list is served by the primary key. */
export function createTradeStore(database: Database): TradeStore {
  return {
    listTrades: async (market, limit, before) => {
      const rows = await database.query<TradeRow>(sql`
        ${selectTrades} WHERE market = ${market} ${before === undefined ? sql`` : sql`AND sequence < ${before}`}
        ORDER BY sequence DESC LIMIT ${limit}
      `);
      return rows.map(readTrade);
    },
    listTradesAfter: async (market, after, limit) => {
      const rows = await database.query<TradeRow>(sql`
        ${selectTrades} WHERE market = ${market} AND sequence > ${after} ORDER BY sequence LIMIT ${limit}
      `);
      return rows.map(readTrade);
    },
    lastTrade: async (market) => {
      const [row] = await database.query<{ sequence: string }>(
        sql`SELECT trade_sequence AS sequence FROM markets WHERE market = ${market}`,
      );
      return Number(row?.sequence ?? 0);
    },
  };
}

const selectTrades = sql`
  SELECT id, sequence, price, size, taker_side AS "takerSide", occurred_at AS "occurredAt" FROM trades
`;

function readTrade(row: TradeRow): Trade {
  return {
    ...row,
    sequence: Number(row.sequence),
    price: Number(row.price),
    size: Number(row.size),
  };
}

/** Trades take the next sequences of their market. */
export function writeTrades(
  tx: Tx,
  market: string,
  lastSequence: number,
  trades: readonly NewTrade[],
  occurredAt: Date,
): void {
  if (trades.length === 0) return;
  tx.send(sql`
    INSERT INTO trades
      (market, sequence, id, price, size, taker_side, maker_tenant_id, maker_order_id, maker_fee, taker_tenant_id,
       taker_order_id, taker_fee, occurred_at)
    SELECT ${market}, t.*, ${occurredAt} FROM unnest(
      ${trades.map((_, index) => lastSequence + index + 1)}::bigint[], ${trades.map((t) => t.id)}::uuid[],
      ${trades.map((t) => t.price)}::bigint[], ${trades.map((t) => t.size)}::bigint[], ${trades.map((t) => t.takerSide)}::text[],
      ${trades.map((t) => t.maker.tenantId)}::uuid[], ${trades.map((t) => t.maker.orderId)}::uuid[],
      ${trades.map((t) => t.maker.fee)}::numeric[], ${trades.map((t) => t.taker.tenantId)}::uuid[],
      ${trades.map((t) => t.taker.orderId)}::uuid[], ${trades.map((t) => t.taker.fee)}::numeric[]) AS t
  `);
}
