import type { MarketLease, MarketLeases } from "../../app/markets/market-store.js";
import { LeaseLostError } from "../../runtime/lease.js";
import type { Database, Queryable } from "../core/database.js";
import { acquireLeases, isHeld, type LeaseTable, releaseLeases, renewLeases } from "../core/leases.js";
import { type Statement, sql } from "../core/sql.js";

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
      const candidates = { from: sql`markets l`, where: sql`l.market = ${market}`, limit: 1 };
      return database.query<MarketLease>(acquireLeases(marketLeases, candidates, holder, leaseMs));
    },
    renew: (leases, leaseMs) => database.query<MarketLease>(renewLeases(marketLeases, leases, leaseMs)),
    release: async (leases) => void (await database.query(releaseLeases(marketLeases, leases))),
  };
}

/** Changes the row of a market under a lease, which locks it until the commit. Throws if the lease was lost. */
export async function guarded(
  source: Queryable,
  lease: MarketLease,
  change: Statement,
): Promise<MarketPosition> {
  const [row] = await source.query<Record<keyof MarketPosition, string>>(sql`
    UPDATE markets l SET ${change} WHERE ${isHeld(marketLeases, lease)}
    RETURNING admitted_sequence AS "admittedSequence", applied_sequence AS "appliedSequence",
      level_sequence AS "levelSequence", trade_sequence AS "tradeSequence"
  `);
  if (row === undefined) throw new LeaseLostError(`another process owns the market ${lease.market}`);
  return {
    admittedSequence: Number(row.admittedSequence),
    appliedSequence: Number(row.appliedSequence),
    levelSequence: Number(row.levelSequence),
    tradeSequence: Number(row.tradeSequence),
  };
}
