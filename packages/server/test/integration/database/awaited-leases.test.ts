import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Lease, LeaseStore } from "../../../src/runtime/loops/lease.js";
import { createNetworkLeases } from "../../../src/store/chain/network-leases.js";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import { createMarketLeases } from "../../../src/store/markets/market-leases.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";

const [one, other] = [randomUUID(), randomUUID()];
const leaseMs = 60_000;

/** The rows of these leases have more than one writer: a step and its renewal, or an operator who resumes what is halted. */
describe.each<["markets" | "networks", object: string, write: Statement]>([
  ["markets", "ETH-USD", sql`UPDATE markets SET halted_reason = NULL, halted_at = NULL`],
  ["networks", "eip155:1", sql`UPDATE networks SET head_number = head_number + 1`],
])("the leases of %s", (table, object, write) => {
  let database: TestDatabase;
  const storeOf = (): LeaseStore<Lease, string> => {
    const store = table === "markets" ? createMarketLeases(database) : createNetworkLeases(database);
    return store as unknown as LeaseStore<Lease, string>;
  };
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.run(`
      INSERT INTO networks (network, genesis_hash, head_number, final_number, settled_number) VALUES ('eip155:1', '0x0', 0, 0, 0);
      INSERT INTO markets (market, base, quote, tick_size, lot_size, lot_units, tick_lot_units)
      VALUES ('ETH-USD', 'ETH', 'USD', '1', '1', 1, 1)`);
  });
  afterAll(() => database.drop());

  /** Begins the work while a write to the row is not committed, and commits that when the work waits for it. */
  async function behindWrite<T>(work: () => Promise<T>): Promise<T> {
    const { result } = await database.transaction(async (tx) => {
      await tx.query(write);
      const begun = { result: work() };
      await eventually(
        () =>
          database.query(sql`
            SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
          `),
        (waiting) => waiting.length > 0,
      );
      return begun;
    });
    return await result;
  }

  it("outlast a write that a renewal waits for, and are free after a release that waits for one", async () => {
    const { acquire, renew, release } = storeOf();
    const leases = await acquire(object, one, leaseMs);
    expect(leases).toHaveLength(1);
    expect(await behindWrite(() => renew(leases, leaseMs))).toEqual(leases);
    expect(await acquire(object, other, leaseMs)).toEqual([]);
    await behindWrite(() => release(leases));
    expect(await acquire(object, other, leaseMs)).toHaveLength(1);
  });
});
