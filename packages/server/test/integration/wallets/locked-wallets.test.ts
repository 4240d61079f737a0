import { randomUUID } from "node:crypto";
import { afterAll, expect, it } from "vitest";
import { createChainWalletActivation } from "../../../src/store/chain/wallets/chain-wallets.js";
import { withKeys } from "../../../src/store/core/database.js";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createWalletActivation } from "../../../src/store/wallets/activate-wallets.js";
import { keys } from "../../harness/access/segments.js";
import { createTestDatabase } from "../../harness/database/test-database.js";

const database = await createTestDatabase();
afterAll(() => database.drop());
const log = createEventLog({ publish: () => undefined });

const locks: Record<string, (tenantId: string) => Statement> = {
  "its wallets": (id) => sql`SELECT FROM wallets WHERE tenant_id = ${id} FOR UPDATE`,
  "its event log": (id) => sql`SELECT FROM event_sequences WHERE tenant_id = ${id} FOR UPDATE`,
  "an event log that it does not have yet": (id) =>
    sql`INSERT INTO event_sequences (tenant_id, sequence) VALUES (${id}, 0)`,
};

/** New wallets that are due, on a network of their own so that no other test activates them. */
async function createWallets(network: string, count: number, hasLog: boolean): Promise<string> {
  const tenantId = randomUUID();
  await database.run(`
    INSERT INTO tenants (id, name, created_at) VALUES ('${tenantId}', 'tenant', now());
    ${hasLog ? `INSERT INTO event_sequences (tenant_id, sequence) VALUES ('${tenantId}', 0);` : ""}
    INSERT INTO wallets (tenant_id, id, name, purpose, network, state, version, created_at, updated_at)
    SELECT '${tenantId}', uuidv7(), 'w', 'payout', '${network}', 'creating', 1, now(), now() FROM generate_series(1, ${count})`);
  return tenantId;
}

const countActive = async (tenantId: string) => {
  const rows = await database.query(
    sql`SELECT FROM wallets WHERE tenant_id = ${tenantId} AND state = 'active'`,
  );
  return rows.length;
};

/** Both ways in which wallets become active: at once, and with an address on a chain. */
const activations: Record<string, (network: string) => () => Promise<number>> = {
  books: (network) => {
    const failed = () => expect.unreachable("a lock is no fault of a wallet");
    const { activateWallets } = createWalletActivation(database, log, [network], failed);
    return () => activateWallets(500, new Date());
  },
  chains: (network) => {
    const store = createChainWalletActivation(withKeys(database, keys), log);
    return async () => {
      const creating = await store.listCreating([network], 100, new Date());
      const addressed = creating.map((wallet) => {
        const address = `0x${wallet.id.replaceAll("-", "").padStart(40, "0")}`;
        return { ...wallet, address, shown: address };
      });
      return await store.activate(addressed, new Date());
    };
  },
};

const cases = Object.keys(locks).flatMap((lock) => Object.keys(activations).map((kind) => [kind, lock]));

it.each(cases)(
  "wallets of %s become active while something locks %s of another tenant",
  async (kind, lock) => {
    const network = randomUUID();
    const hasLog = lock === "its event log";
    const locked = await createWallets(network, 30, hasLog);
    const others = await Promise.all([1, 2, 3, 4].map(() => createWallets(network, 5, true)));
    const activate = activations[kind as string]?.(network) ?? expect.unreachable();
    const timesMs = await database.transaction(async (tx) => {
      await tx.query(locks[lock as string]?.(locked) ?? expect.unreachable());
      const taken: number[] = [];
      for (let time = 0; time < 2; time++) {
        const begunMs = performance.now();
        await activate();
        taken.push(performance.now() - begunMs);
      }
      expect(await Promise.all(others.map(countActive))).toEqual([5, 5, 5, 5]);
      expect(await countActive(locked)).toBe(0);
      return taken;
    });
    // Half a second until the lock is given up, and not again.
    expect(timesMs[0]).toBeLessThan(2000);
    expect(timesMs[1]).toBeLessThan(400);
  },
);
