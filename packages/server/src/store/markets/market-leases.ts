import { LeaseLostError, type MarketLease, type MarketStore } from "../../app/markets/market-store.js";
import type { Database, Queryable } from "../core/database.js";
import { type Statement, sql } from "../core/sql.js";

/** How far a market is, as its row says. */
export interface MarketPosition {
  admittedSequence: number;
  appliedSequence: number;
  levelSequence: number;
  tradeSequence: number;
}

/**
 * Who owns a market. Times are the database's own, so that owners need not agree on a clock. Every row is found by the primary key.
 */
export function createMarketLeases(
  database: Database,
): Pick<MarketStore, "takeLease" | "renewLease" | "releaseLease"> {
  return {
    takeLease: async (market, holder, durationMs) => {
      const [row] = await database.query<{ fence: string }>(sql`
        UPDATE markets SET holder = ${holder}, fence = fence + 1, expires_at = clock_timestamp() + ${durationMs} * interval '1 ms'
        WHERE market = ${market} AND expires_at < clock_timestamp() RETURNING fence
      `);
      return row && { market, holder, fence: row.fence };
    },
    renewLease: (lease, durationMs) =>
      guarded(database, lease, sql`expires_at = clock_timestamp() + ${durationMs} * interval '1 ms'`).then(
        () => undefined,
      ),
    releaseLease: async ({ market, fence }) => {
      await database.query(sql`
        UPDATE markets SET expires_at = '-infinity' WHERE market = ${market} AND fence = ${fence}
      `);
    },
  };
}

/**
 * Changes the row of a market under a lease, which locks it: until the commit nobody else can take the market, and whoever has lost
 * it changes nothing.
 */
export async function guarded(
  source: Queryable,
  { market, holder, fence }: MarketLease,
  change: Statement,
): Promise<MarketPosition> {
  const [row] = await source.query<Record<keyof MarketPosition, string>>(sql`
    UPDATE markets SET ${change} WHERE market = ${market} AND holder = ${holder} AND fence = ${fence}
    RETURNING admitted_sequence AS "admittedSequence", applied_sequence AS "appliedSequence",
      level_sequence AS "levelSequence", trade_sequence AS "tradeSequence"
  `);
  if (row === undefined) throw new LeaseLostError(`somebody else owns the market ${market}`);
  return {
    admittedSequence: Number(row.admittedSequence),
    appliedSequence: Number(row.appliedSequence),
    levelSequence: Number(row.levelSequence),
    tradeSequence: Number(row.tradeSequence),
  };
}
