import type { Side, TradedMarket } from "@bursar/domain";
import type { LevelChangeRow, MarketDelta } from "../../app/markets/market-store.js";
import type { LevelStore } from "../../app/markets/market-view.js";
import { coalesce } from "../../runtime/concurrency/coalesce.js";
import { type Database, requireKeys } from "../core/database.js";
import { removeInBatches } from "../core/rows/remove-in-batches.js";
import { sql } from "../core/sql.js";
import { bandColumns, isBandAuthentic, type StoredBand } from "./band-integrity.js";

interface DeltaRow {
  market: string;
  sequence: string;
  previousSequence: string;
  changes: LevelChangeRow[];
  centre: string | null;
  occurredAt: Date;
}

/** The columns of a delta are null if there is none. */
type FoundDelta = { [Column in keyof DeltaRow]: DeltaRow[Column] | null } & { lastSequence: string };

interface DeltaRequest {
  market: string;
  after: number;
  limit: number;
}

/** Far more than there are. */
const marketsMax = 1000;

/** The levels of books, for the views of all processes. */
export function createLevelStore(database: Database): LevelStore {
  // The views of all markets poll in the same moment, and then it is one statement for all of them. Served by the primary keys. The last
  // sequence is read with them: a book that is ahead of it is not the one in the database.
  const findDeltas = coalesce<DeltaRequest, FoundDelta[]>(
    ({ market, after, limit }) => `${market} ${after} ${limit}`,
    async (asked) => {
      const rows = await database.query<FoundDelta & { name: string }>(sql`
        SELECT concat_ws(' ', given.market, given.after, given.max) AS name, m.market, m.level_sequence AS "lastSequence",
          d.sequence, d.previous_sequence AS "previousSequence", d.changes, d.centre, d.occurred_at AS "occurredAt"
        FROM unnest(${asked.map(({ market }) => market)}::text[], ${asked.map(({ after }) => after)}::bigint[],
          ${asked.map(({ limit }) => limit)}::integer[]) AS given (market, after, max)
        JOIN markets m ON m.market = given.market
        LEFT JOIN LATERAL (
          SELECT * FROM market_deltas WHERE market = m.market AND sequence > given.after ORDER BY sequence LIMIT given.max) d ON true
      `);
      const found = new Map<string, FoundDelta[]>();
      for (const row of rows) {
        const known = found.get(row.name);
        if (known === undefined) found.set(row.name, [row]);
        else known.push(row);
      }
      return found;
    },
    marketsMax,
  );
  return {
    // One statement, so one moment. Served by the primary key and open_orders_resting.
    readLevels: async (market) => {
      const [row] = await database.query<
        StoredBand & {
          sequence: string;
          changedAt: Date;
          levels: { side: Side; price: number; size: number }[];
        }
      >(sql`
        SELECT level_sequence AS sequence, levels_changed_at AS "changedAt", ${bandColumns}, (
          SELECT coalesce(jsonb_agg(jsonb_build_object('side', side, 'price', price, 'size', size)), '[]') FROM (
            SELECT side, price, sum(size - filled) AS size FROM open_orders
            WHERE market = ${market} AND state IN ('open', 'partially_filled') GROUP BY side, price ORDER BY price) level) AS levels
        FROM markets WHERE market = ${market}
      `);
      if (row === undefined) throw new Error(`the market ${market} was not prepared`);
      const ofSide = (wanted: Side) =>
        row.levels.filter(({ side }) => side === wanted).map(({ price, size }) => ({ price, size }));
      const levels = {
        sequence: Number(row.sequence),
        changedAt: row.changedAt,
        bids: ofSide("buy").reverse(),
        asks: ofSide("sell"),
      };
      // The process that loads the market halts it if this is another band than the service has written.
      const isAuthentic = isBandAuthentic(requireKeys(database), market, row);
      return { levels, band: isAuthentic ? row.band : null };
    },
    listDeltas: async (market, after, limit) => {
      const rows = (await findDeltas({ market, after, limit })) ?? [];
      const found = rows.filter((row): row is DeltaRow & FoundDelta => row.sequence !== null);
      const [first] = found;
      const isConnected =
        first === undefined
          ? Number(rows[0]?.lastSequence ?? after) === after
          : Number(first.previousSequence) === after;
      return isConnected ? found.map(toDelta) : undefined;
    },
  };
}

function toDelta({ market, changes, occurredAt, sequence, previousSequence, centre }: DeltaRow): MarketDelta {
  return {
    market,
    changes,
    occurredAt,
    sequence: Number(sequence),
    previousSequence: Number(previousSequence),
    centre: centre === null ? null : Number(centre),
  };
}

/** A change of the configuration that a market with orders does not allow. */
export type MarketConflict =
  | { kind: "missing"; market: string }
  | { kind: "other_steps"; market: string; tickSize: string; lotSize: string };

/** Creates a row for each market. Finds a market with orders that is configured differently now, or is missing. */
export async function prepareMarkets(
  database: Database,
  markets: readonly TradedMarket[],
): Promise<MarketConflict | undefined> {
  for (const { name, base, quote, steps, definition } of markets) {
    await database.query(sql`
      INSERT INTO markets (market, base, quote, tick_size, lot_size, lot_units, tick_lot_units)
      VALUES (${name}, ${base.code}, ${quote.code}, ${definition.tickSize}, ${definition.lotSize}, ${steps.lotUnits},
        ${steps.tickLotUnits})
      ON CONFLICT (market) DO NOTHING
    `);
    const [row] = await database.query<{ tickSize: string; lotSize: string }>(
      sql`SELECT tick_size AS "tickSize", lot_size AS "lotSize" FROM markets WHERE market = ${name}`,
    );
    if (row !== undefined && (row.tickSize !== definition.tickSize || row.lotSize !== definition.lotSize))
      return { kind: "other_steps", market: name, ...row };
  }
  const [missing] = await database.query<{ market: string }>(sql`
    SELECT market FROM markets WHERE admitted_sequence > 0 AND market <> ALL(${markets.map(({ name }) => name)}::text[])
    ORDER BY market LIMIT 1
  `);
  return missing && { kind: "missing", market: missing.market };
}

/**
 * Served by market_deltas_by_age. A view that is further behind reads all levels again. It notices by the last delta of each market,
 * which stays.
 */
export async function removeOldDeltas(database: Database, before: Date): Promise<void> {
  await removeInBatches(
    database,
    sql`market_deltas`,
    sql`r.occurred_at < ${before} AND r.sequence < (SELECT m.level_sequence FROM markets m WHERE m.market = r.market)
      ORDER BY r.occurred_at`,
  );
}
