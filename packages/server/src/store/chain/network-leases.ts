import {
  ChainMovedError,
  type ChainPosition,
  type NetworkLease,
  type NetworkLeases,
} from "../../app/chain/chain-store.js";
import { LeaseLostError } from "../../runtime/loops/lease.js";
import type { Database, Queryable } from "../core/database.js";
import { acquireLeases, isHeld, type LeaseTable, releaseLeases, renewLeases } from "../core/rows/leases.js";
import { sql } from "../core/sql.js";

/** The lease on a network is three columns of its row. */
export const networkLeases: LeaseTable<{ network: string }> = {
  table: sql`networks`,
  key: [{ column: sql`network`, type: sql`text`, of: ({ network }) => network }],
  isWrittenByOthers: true,
};

/** Served by the primary key. */
export function createNetworkLeases(database: Database): NetworkLeases {
  return {
    acquire: (network, holder, leaseMs) =>
      database.query<NetworkLease>(
        acquireLeases(
          networkLeases,
          { keys: sql`SELECT network FROM unnest(${[network]}::text[]) AS given (network)`, limit: 1 },
          holder,
          leaseMs,
        ),
      ),
    renew: (leases, leaseMs) => database.query<NetworkLease>(renewLeases(networkLeases, leases, leaseMs)),
    release: async (leases, restMs) =>
      void (await database.query(releaseLeases(networkLeases, leases, restMs))),
  };
}

/**
 * Locks the row of a network under its lease: until the commit no other process can acquire the lease. Throws if the lease was lost, or if
 * the database has gone back to an earlier state. Served by the primary keys.
 */
export async function lockNetwork(tx: Queryable, { lease, tipHash }: ChainPosition): Promise<void> {
  const [row] = await tx.query<{ tip: string | null }>(sql`
    SELECT (
      SELECT b.hash FROM chain_blocks b WHERE b.network = l.network ORDER BY b.network DESC, b.number DESC LIMIT 1) AS tip
    FROM networks l WHERE ${isHeld(networkLeases, lease)} FOR NO KEY UPDATE
  `);
  if (row === undefined)
    throw new LeaseLostError(`another process holds the lease of the network ${lease.network}`);
  if (row.tip !== (tipHash ?? null))
    throw new ChainMovedError(`the last block of ${lease.network} is ${row.tip}, and not ${tipHash}`);
}
