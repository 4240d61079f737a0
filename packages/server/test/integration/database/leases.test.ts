import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MarketLease } from "../../../src/app/markets/market-store.js";
import type { EndpointLease } from "../../../src/app/webhooks/sending.js";
import {
  createLeaseKeeper,
  type Lease,
  LeaseLostError,
  type LeaseStore,
} from "../../../src/runtime/loops/lease.js";
import { type Database, withKeys } from "../../../src/store/core/database.js";
import {
  acquireLeases,
  isHeld,
  type LeaseTable,
  releaseLeases,
  renewLeases,
} from "../../../src/store/core/rows/leases.js";
import { sql } from "../../../src/store/core/sql.js";
import { createMarketLeases, lockMarket } from "../../../src/store/markets/market-leases.js";
import { createSendingStore } from "../../../src/store/webhooks/webhook-sending.js";
import { keys } from "../../harness/access/segments.js";
import { sealEndpoints } from "../../harness/database/seal-rows.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";

/** A use of leases, with leases that are not held. */
interface LeaseUse {
  /** The store of one new object that can be leased. */
  prepare: (database: Database) => Promise<LeaseStore<Lease, undefined>>;
  /** Writes under a lease, and returns whether the write was accepted. */
  write: (database: Database, lease: Lease) => Promise<boolean>;
}

async function isWritten(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof LeaseLostError) return false;
    throw error;
  }
}

/** Adapts a store of leases to one leased object. */
function onlyFor<Held extends Lease, Wanted>(
  store: LeaseStore<Held, Wanted>,
  wanted: Wanted,
): LeaseStore<Lease, undefined> {
  return {
    acquire: (_, holder, leaseMs) => store.acquire(wanted, holder, leaseMs),
    renew: (leases, leaseMs) => store.renew(leases as Held[], leaseMs),
    release: (leases) => store.release(leases as Held[]),
  };
}

const markets: LeaseUse = {
  prepare: async (database) => {
    const market = `M${randomUUID()}`;
    await database.query(sql`
      INSERT INTO markets (market, base, quote, tick_size, lot_size, lot_units, tick_lot_units)
      VALUES (${market}, 'ETH', 'USD', '1', '1', 1, 1)
    `);
    return onlyFor(createMarketLeases(database), market);
  },
  write: (database, lease) =>
    isWritten(
      database.transaction(async (tx) => {
        await lockMarket(tx, lease as never);
        tx.send(
          sql`UPDATE markets SET trade_sequence = trade_sequence + 1 WHERE market = ${(lease as MarketLease).market}`,
        );
      }),
    ),
};

const unreported = () => expect.unreachable("nobody has tampered with the endpoint");

const endpoints: LeaseUse = {
  prepare: async (database) => {
    const [tenantId, id] = [randomUUID(), randomUUID()];
    await database.query(sql`
      INSERT INTO webhook_endpoints (tenant_id, id, url, events, state, secret, version, created_at, updated_at)
      VALUES (${tenantId}, ${id}, 'https://receiver.example', '{*}', 'enabled', '', 1, now(), now())
    `);
    await sealEndpoints(database, keys);
    await database.query(sql`
      INSERT INTO webhook_leases (tenant_id, endpoint_id, fence, expires_at) VALUES (${tenantId}, ${id}, 0, '-infinity')
    `);
    await database.query(sql`
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
      SELECT ${tenantId}, gen_random_uuid(), ${id}, n, 'wallet.updated', '-infinity' FROM generate_series(1, 5) n
    `);
    return onlyFor(createSendingStore(withKeys(database, keys), unreported).leases, {
      tenantIds: [tenantId],
      areFailing: false,
      dueBy: new Date(),
      limit: 10,
    });
  },
  write: async (database, lease) => {
    const own = lease as EndpointLease;
    const [first] = await database.query<{ id: string }>(
      sql`SELECT id FROM pending_deliveries WHERE tenant_id = ${own.tenantId} ORDER BY sequence LIMIT 1`,
    );
    const deliveryId = first?.id ?? "";
    const attempt = { at: new Date().toISOString(), latencyMs: 1, status: 200, error: null, excerpt: "" };
    const next = { state: "delivered", at: new Date() } as const;
    await createSendingStore(withKeys(database, keys), unreported).recordResults(
      [{ lease: own, deliveryId, attempt, next }],
      [],
    );
    return (await database.query(sql`SELECT FROM finished_deliveries WHERE id = ${deliveryId}`)).length === 1;
  },
};

/** A table of its own, as a rail would have for its networks. */
const networkLeases: LeaseTable<{ network: string }> = {
  table: sql`test_networks`,
  key: [{ column: sql`network`, type: sql`text`, of: ({ network }) => network }],
  isWrittenByOthers: true,
};

const networks: LeaseUse = {
  prepare: async (database) => {
    const network = randomUUID();
    await database.query(sql`INSERT INTO test_networks (network) VALUES (${network})`);
    const store: LeaseStore<Lease & { network: string }, undefined> = {
      acquire: (_, holder, leaseMs) => {
        const candidates = { keys: sql`SELECT ${network}::text AS network`, limit: 1 };
        return database.query(acquireLeases(networkLeases, candidates, holder, leaseMs));
      },
      renew: (leases, leaseMs) => database.query(renewLeases(networkLeases, leases, leaseMs)),
      release: async (leases) => void (await database.query(releaseLeases(networkLeases, leases))),
    };
    return onlyFor(store, undefined);
  },
  write: async (database, lease) => {
    const own = lease as Lease & { network: string };
    const rows = await database.query(
      sql`UPDATE test_networks l SET block = block + 1 WHERE ${isHeld(networkLeases, own)} RETURNING block`,
    );
    return rows.length === 1;
  },
};

describe.each(Object.entries({ markets, endpoints, networks }))("the leases of %s", (_name, use) => {
  const [one, other] = [randomUUID(), randomUUID()];
  const longMs = 60_000;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.run(`
      CREATE TABLE test_networks (network text PRIMARY KEY, block integer NOT NULL DEFAULT 0, holder uuid,
        fence bigint NOT NULL DEFAULT 0, expires_at timestamptz NOT NULL DEFAULT '-infinity')
    `);
  });
  afterAll(() => database.drop());

  async function acquire(
    leases: LeaseStore<Lease, undefined>,
    holder: string,
    leaseMs = longMs,
  ): Promise<Lease> {
    const [lease] = await leases.acquire(undefined, holder, leaseMs);
    if (lease === undefined) throw new Error("there was no lease to acquire");
    return lease;
  }

  /** A lease that has expired, and the one that another holder has acquired since. */
  async function lose(leases: LeaseStore<Lease, undefined>): Promise<{ lost: Lease; held: Lease }> {
    const lost = await acquire(leases, one, 1);
    const [held] = await eventually(
      () => leases.acquire(undefined, other, longMs),
      (acquired) => acquired.length > 0,
    );
    if (held === undefined) throw new Error("there was no lease to acquire");
    return { lost, held };
  }

  it("are held by one of two concurrent holders", async () => {
    const leases = await use.prepare(database);
    const acquired = await Promise.all(
      [one, other].map((holder) => leases.acquire(undefined, holder, longMs)),
    );
    expect(acquired.flat()).toHaveLength(1);
    expect(await leases.acquire(undefined, other, longMs)).toEqual([]);
  });

  it("can be acquired by another holder once they expire, under a higher fence", async () => {
    const { lost, held } = await lose(await use.prepare(database));
    expect([held.holder, Number(held.fence)]).toEqual([other, Number(lost.fence) + 1]);
  });

  it("reject the writes, renewal and release of a holder that has lost its lease", async () => {
    const leases = await use.prepare(database);
    const { lost, held } = await lose(leases);
    expect(await use.write(database, lost)).toBe(false);
    expect(await leases.renew([lost], longMs)).toEqual([]);
    await leases.release([lost]);
    expect(await leases.acquire(undefined, one, longMs)).toEqual([]);
    expect(await use.write(database, held)).toBe(true);
  });

  it("reject the writes of a holder that has released its lease", async () => {
    const leases = await use.prepare(database);
    const released = await acquire(leases, one);
    await leases.release([released]);
    expect(await use.write(database, released)).toBe(false);
    expect(await leases.acquire(undefined, other, longMs)).toHaveLength(1);
  });

  it("stay valid after they expire until another holder acquires them", async () => {
    const leases = await use.prepare(database);
    const lease = await acquire(leases, one, 1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await use.write(database, lease)).toBe(true);
    expect(await leases.renew([lease], longMs)).toMatchObject([{ fence: lease.fence }]);
    expect(await leases.acquire(undefined, other, longMs)).toEqual([]);
  });

  it("are uncertain to a holder that was paused, until it renews them or detects that it has lost them", async () => {
    const leases = await use.prepare(database);
    let monotonicMs = 0;
    const nameOf = () => "it";
    const keep = (holder: string, leaseMs: number) =>
      createLeaseKeeper({
        ...{ store: leases, holder, leaseMs, renewEveryMs: leaseMs / 4, nameOf },
        monotonicMs: () => monotonicMs,
      });
    const keeper = keep(one, 50);
    const [lease] = await keeper.acquire(undefined);
    if (lease === undefined) throw new Error("there was no lease to acquire");
    expect([keeper.isHeld(lease), keeper.isRenewalDue()]).toEqual([true, true]);

    monotonicMs += 100;
    expect(keeper.isHeld(lease)).toBe(false);
    expect((await keeper.renew([lease])).size).toBe(1);
    expect([keeper.isHeld(lease), keeper.isRenewalDue()]).toEqual([true, false]);

    monotonicMs += 100;
    await eventually(
      () => keep(other, longMs).acquire(undefined),
      (acquired) => acquired.length > 0,
    );
    expect((await keeper.renew([lease])).size).toBe(0);
    expect(keeper.isHeld(lease)).toBe(false);
    expect(await use.write(database, lease)).toBe(false);
  });
});
