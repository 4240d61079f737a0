import {
  createBook,
  createMarketRegistry,
  type MarketRegistry,
  type OpenOrder,
  restoreBook,
  type Trade,
} from "@bursar/domain";
import { applyLevelChanges, type Levels } from "../../../src/app/markets/depth-view.js";
import type { LevelChangeRow, MarketCommand } from "../../../src/app/markets/market-store.js";
import { sandboxMarkets } from "../../../src/config/market-list.js";
import { applyCommands } from "../../../src/markets/apply-commands.js";
import type { Database, Queryable } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { testAssets } from "../service/test-assets.js";

const markets = createMarketRegistry(sandboxMarkets, testAssets) as MarketRegistry;

type TradeLine = [maker: string, taker: string, price: number, size: number];

export interface Replay {
  commands: number;
  /** The book by its commands from the first one on, and the book that an owner would make of what is stored. */
  fingerprints: { replayed: string; restored: string };
  trades: { replayed: TradeLine[]; stored: TradeLine[] };
  /** How many deltas there were, and those after which the levels were not those of the book. */
  deltas: { count: number; wrong: number[] };
}

/** Plays a market from its first command on, and holds what comes of it beside what is stored, as of one moment. */
export async function replayMarket(database: Database, name: string): Promise<Replay> {
  return await database.transaction(async (tx) => {
    await tx.query(sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY`);
    const market = markets.get(name);
    const commands = await readCommands(tx, name);
    const deltas = await readDeltas(tx, name);
    const book = createBook();
    const levels: Levels = { sequence: 0, changedAt: new Date(0), bids: [], asks: [] };
    const wrong: number[] = [];
    const replayed: TradeLine[] = [];
    for (const command of commands) {
      const [result] = applyCommands(book, market, [command]);
      for (const effect of result?.effects ?? []) if (effect.kind === "trade") replayed.push(toLine(effect));
      const changes = deltas.get(command.sequence);
      if (changes === undefined) continue;
      applyLevelChanges(levels, changes);
      const { bids, asks } = book.depth(Number.MAX_SAFE_INTEGER);
      const withoutCounts = (side: typeof bids) => side.map(({ price, size }) => ({ price, size }));
      const expected = JSON.stringify([withoutCounts(bids), withoutCounts(asks)]);
      if (JSON.stringify([levels.bids, levels.asks]) !== expected) wrong.push(command.sequence);
    }
    const restored = restoreBook(await readResting(tx, name));
    return {
      commands: commands.length,
      fingerprints: { replayed: book.fingerprint(), restored: restored.fingerprint() },
      trades: { replayed, stored: await readTrades(tx, name) },
      deltas: { count: deltas.size, wrong },
    };
  });
}

function toLine({ maker, taker, price, size }: Trade): TradeLine {
  return [maker, taker, price, size];
}

async function readCommands(source: Queryable, name: string): Promise<MarketCommand[]> {
  const rows = await source.query<{ command: MarketCommand & { order: { quoteSize: string | null } } }>(sql`
    SELECT jsonb_build_object('sequence', c.sequence, 'tenantId', c.tenant_id, 'orderId', c.order_id, 'kind', c.kind, 'size', c.size,
      'priceLimit', c.price_limit,
      'orderNumber', min(c.sequence) OVER (PARTITION BY c.order_id),
      'order', jsonb_build_object('side', o.side, 'type', o.type, 'timeInForce', o.time_in_force, 'selfTrade', o.self_trade,
        'price', o.price, 'size', o.size, 'quoteSize', o.quote_size::text)) AS command
    FROM market_commands c JOIN orders o ON o.tenant_id = c.tenant_id AND o.id = c.order_id
    JOIN markets m ON m.market = c.market AND c.sequence <= m.applied_sequence
    WHERE c.market = ${name} ORDER BY c.sequence
  `);
  return rows.map(({ command }) => {
    const { quoteSize } = command.order;
    return {
      ...command,
      order: { ...command.order, quoteSize: quoteSize === null ? null : BigInt(quoteSize) },
    };
  }) as MarketCommand[];
}

async function readDeltas(source: Queryable, name: string): Promise<Map<number, LevelChangeRow[]>> {
  const rows = await source.query<{ sequence: string; changes: LevelChangeRow[] }>(
    sql`SELECT sequence, changes FROM market_deltas WHERE market = ${name} ORDER BY sequence`,
  );
  return new Map(rows.map(({ sequence, changes }) => [Number(sequence), changes]));
}

async function readResting(source: Queryable, name: string): Promise<OpenOrder[]> {
  const rows = await source.query<{ order: OpenOrder }>(sql`
    SELECT jsonb_build_object('number', sequence, 'id', id, 'owner', tenant_id, 'side', side, 'price', price, 'size', size,
      'remaining', size - filled) AS order
    FROM open_orders WHERE market = ${name} AND state IN ('open', 'partially_filled') ORDER BY sequence
  `);
  return rows.map(({ order }) => order);
}

async function readTrades(source: Queryable, name: string): Promise<TradeLine[]> {
  const rows = await source.query<{ line: TradeLine }>(sql`
    SELECT jsonb_build_array(maker_order_id, taker_order_id, price, size) AS line FROM trades
    WHERE market = ${name} ORDER BY sequence
  `);
  return rows.map(({ line }) => line);
}
