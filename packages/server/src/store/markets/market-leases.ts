import type { MarketLease, MarketLeases } from "../../app/markets/market-store.js";
import { LeaseLostError } from "../../runtime/lease.js";
import type { Database, Queryable } from "../core/database.js";
import { acquireLeases, isHeld, type LeaseTable, releaseLeases, renewLeases } from "../core/leases.js";
import { sql } from "../core/sql.js";

/** How far a market is, as its row says. */
export interface MarketPosition {
  admittedSequence: number;
  appliedSequence: number;
  levelSequence: number;
  tradeSequence: number;
}

/** The lease on a market is three columns of its row. */
const marketLeases: LeaseTable<{ market: string }> = {
  table: sql`markets`,
  key: [{ column: sql`market`, type: sql`text`, of: ({ market }) => market }],
};

export function createMarketLeases(database: Database): MarketLeases {
  return {
    acquire: (market, holder, leaseMs) => {
      const candidates = { keys: sql`SELECT ${market}::text AS market`, limit: 1 };
      return database.query<MarketLease>(acquireLeases(marketLeases, candidates, holder, leaseMs));
    },
    renew: (leases, leaseMs) => database.query<MarketLease>(renewLeases(marketLeases, leases, leaseMs)),
    release: async (leases, restMs) =>
      void (await database.query(releaseLeases(marketLeases, leases, restMs))),
  };
}

/**
 * Locks the row of a market under its lease: until the commit no other process can acquire the lease. Throws if the lease was lost.
 * Served by the primary key.
 */
export async function lockMarket(tx: Queryable, lease: MarketLease): Promise<MarketPosition> {
  const [row] = await tx.query<Record<keyof MarketPosition, string>>(sql`
    SELECT l.admitted_sequence AS "admittedSequence", l.applied_sequence AS "appliedSequence",
      l.level_sequence AS "levelSequence", l.trade_sequence AS "tradeSequence"
    FROM markets l WHERE ${isHeld(marketLeases, lease)} FOR NO KEY UPDATE
  `);
  if (row === undefined)
    throw new LeaseLostError(`another process holds the lease of the market ${lease.market}`);
  return {
    admittedSequence: Number(row.admittedSequence),
    appliedSequence: Number(row.appliedSequence),
    levelSequence: Number(row.levelSequence),
    tradeSequence: Number(row.tradeSequence),
  };
}
