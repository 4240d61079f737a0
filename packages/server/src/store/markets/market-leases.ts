import type { MarketLease, MarketLeases } from "../../app/markets/market-store.js";
import { coalesce } from "../../runtime/concurrency/coalesce.js";
import { LeaseLostError } from "../../runtime/loops/lease.js";
import type { Database, Queryable } from "../core/database.js";
import { acquireLeases, isHeld, type LeaseTable, releaseLeases, renewLeases } from "../core/rows/leases.js";
import { sql } from "../core/sql.js";

/** How far a market is, as its row says. */
export interface MarketPosition {
  admittedSequence: number;
  appliedSequence: number;
  levelSequence: number;
  tradeSequence: number;
  /** An operator has to resume it. */
  isHalted: boolean;
}

/** The lease on a market is three columns of its row. */
const marketLeases: LeaseTable<{ market: string }> = {
  table: sql`markets`,
  key: [{ column: sql`market`, type: sql`text`, of: ({ market }) => market }],
  since: sql`held_since`,
  isWrittenByOthers: true,
};

/** Far more than there are markets. */
const batchMax = 1000;

/** The engines of all markets of a process acquire and renew in the same moment, and then it is one statement for all of them. */
export function createMarketLeases(database: Database): MarketLeases {
  const acquireOne = coalesce<Acquisition, MarketLease>(
    ({ market, holder, leaseMs }) => `${market} ${holder} ${leaseMs}`,
    async (wanted) => {
      const acquired = new Map<string, MarketLease>();
      for (const [{ holder, leaseMs }, markets] of groupAlike(wanted)) {
        const candidates = {
          keys: sql`SELECT market FROM unnest(${markets.toSorted()}::text[]) AS given (market)`,
          limit: markets.length,
        };
        const statement = acquireLeases(marketLeases, candidates, holder, leaseMs);
        for (const lease of await database.query<MarketLease>(statement))
          acquired.set(`${lease.market} ${holder} ${leaseMs}`, lease);
      }
      return acquired;
    },
    batchMax,
  );
  const renewOne = coalesce<MarketLease & { leaseMs: number }, MarketLease>(
    (lease) => nameOf(lease),
    async (leases) => {
      const leaseMs = Math.max(...leases.map((lease) => lease.leaseMs));
      const renewed = await database.query<MarketLease>(renewLeases(marketLeases, leases, leaseMs));
      return new Map(renewed.map((lease) => [nameOf(lease), lease]));
    },
    batchMax,
  );
  return {
    acquire: async (market, holder, leaseMs) => {
      const lease = await acquireOne({ market, holder, leaseMs });
      return lease === undefined ? [] : [lease];
    },
    renew: async (leases, leaseMs) => {
      const renewed = await Promise.all(leases.map((lease) => renewOne({ ...lease, leaseMs })));
      return renewed.filter((lease) => lease !== undefined);
    },
    release: async (leases, restMs) =>
      void (await database.query(releaseLeases(marketLeases, leases, restMs))),
  };
}

interface Acquisition {
  market: string;
  holder: string;
  leaseMs: number;
}

function groupAlike(wanted: readonly Acquisition[]): Map<Acquisition, string[]> {
  const groups = new Map<Acquisition, string[]>();
  for (const one of wanted) {
    const alike = [...groups.keys()].find(
      ({ holder, leaseMs }) => holder === one.holder && leaseMs === one.leaseMs,
    );
    if (alike === undefined) groups.set(one, [one.market]);
    else groups.get(alike)?.push(one.market);
  }
  return groups;
}

function nameOf({ market, holder, fence }: MarketLease): string {
  return `${market} ${holder} ${fence}`;
}

/**
 * Locks the row of a market under its lease: until the commit no other process can acquire the lease. Throws if the lease was lost.
 * Served by the primary key.
 */
export async function lockMarket(tx: Queryable, lease: MarketLease): Promise<MarketPosition> {
  const [row] = await tx.query<
    Record<Exclude<keyof MarketPosition, "isHalted">, string> & { isHalted: boolean }
  >(sql`
    SELECT l.admitted_sequence AS "admittedSequence", l.applied_sequence AS "appliedSequence",
      l.level_sequence AS "levelSequence", l.trade_sequence AS "tradeSequence", l.halted_reason IS NOT NULL AS "isHalted"
    FROM markets l WHERE ${isHeld(marketLeases, lease)} FOR NO KEY UPDATE
  `);
  if (row === undefined)
    throw new LeaseLostError(`another process holds the lease of the market ${lease.market}`);
  return {
    admittedSequence: Number(row.admittedSequence),
    appliedSequence: Number(row.appliedSequence),
    levelSequence: Number(row.levelSequence),
    tradeSequence: Number(row.tradeSequence),
    isHalted: row.isHalted,
  };
}
