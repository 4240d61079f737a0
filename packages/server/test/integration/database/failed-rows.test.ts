import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type FailureTable,
  listFailures,
  recordFailure,
  retryFailures,
} from "../../../src/store/core/rows/failures.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createWalletActivation, walletFailures } from "../../../src/store/wallets/activate-wallets.js";
import { insertWallet } from "../../../src/store/wallets/wallets.js";
import { deliveryFailures } from "../../../src/store/webhooks/webhook-sending.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

const now = new Date("2026-06-01T12:00:00Z");
const after = (seconds: number) => new Date(now.getTime() + seconds * 1000);

describe("a row that fails", () => {
  let database: TestDatabase;
  const tenantId = randomUUID();
  beforeEach(async () => {
    database = await createTestDatabase();
    await database.query(
      sql`INSERT INTO tenants (id, name, created_at) VALUES (${tenantId}, 'tenant', ${now})`,
    );
  });
  afterEach(() => database.drop());

  async function createWallet(name: string): Promise<string> {
    const id = randomUUID();
    await insertWallet(database, {
      ...{ tenantId, id, name, purpose: "treasury", network: "book", role: null, state: "creating" },
      ...{
        frozen: false,
        frozenReason: null,
        version: 1,
        address: null,
        createdBy: null,
        createdAt: now,
        updatedAt: now,
      },
    });
    return id;
  }

  const stateOf = async (id: string) => {
    const [row] = await database.query<{ state: string; attempts: number; lastError: string | null }>(
      sql`SELECT state, attempts, last_error AS "lastError" FROM wallets WHERE id = ${id}`,
    );
    return row;
  };

  it("is isolated from its batch, records its failure, waits, and is processed once the cause is fixed", async () => {
    const failures: string[] = [];
    const log = createEventLog({ publish: () => undefined });
    const activation = createWalletActivation(database, log, ["book"], ({ id }) => failures.push(id));
    const names = Array.from({ length: 20 }, (_, index) => (index === 13 ? "unlucky" : `wallet ${index}`));
    const ids = await Promise.all(names.map(createWallet));
    const unlucky = ids[13] ?? "";
    await database.run(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''the row is unlucky''; END';
      CREATE TRIGGER refuse BEFORE UPDATE OF state ON wallets FOR EACH ROW WHEN (OLD.name = 'unlucky') EXECUTE FUNCTION refuse();
    `);

    expect(await activation.activateWallets(100, now)).toBe(19);
    expect([failures, await stateOf(unlucky)]).toEqual([
      [unlucky],
      { state: "creating", attempts: 1, lastError: "the row is unlucky" },
    ]);
    expect(await listFailures(database, walletFailures, 10)).toEqual([
      { tenantId, id: unlucky, attempts: 1, lastError: "the row is unlucky", retryAt: after(5) },
    ]);

    expect(await activation.activateWallets(100, after(4))).toBe(0);
    expect(failures).toHaveLength(1);
    await activation.activateWallets(100, after(5));
    expect(await listFailures(database, walletFailures, 10)).toMatchObject([
      { attempts: 2, retryAt: after(15) },
    ]);

    await database.run("DROP TRIGGER refuse ON wallets");
    expect(await retryFailures(database, walletFailures, unlucky, after(6))).toBe(1);
    expect(await activation.activateWallets(100, after(6))).toBe(1);
    expect(await stateOf(unlucky)).toEqual({ state: "active", attempts: 0, lastError: null });
    expect(await listFailures(database, walletFailures, 10)).toEqual([]);
  });

  async function createDelivery(): Promise<string> {
    const id = randomUUID();
    await database.query(sql`
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
      VALUES (${tenantId}, ${id}, ${randomUUID()}, 1, 'wallet.updated', '-infinity')
    `);
    return id;
  }

  it.each<[FailureTable, () => Promise<string>]>([
    [walletFailures, () => createWallet("wallet")],
    [deliveryFailures, createDelivery],
  ])("is retried after at most 10 minutes, or when an operator requests it: $kind", async (table, create) => {
    const id = await create();
    const error = new Error("zero \u0000 and half a pair \ud800");
    for (let attempt = 0; attempt < 40; attempt++)
      await recordFailure(database, table, { tenantId, id }, error, now);
    const failed = { tenantId, id, attempts: 40, lastError: "zero \ufffd and half a pair \ufffd" };
    expect(await listFailures(database, table, 10)).toEqual([{ ...failed, retryAt: after(600) }]);
    expect(await retryFailures(database, table, randomUUID(), now)).toBe(0);
    expect(await retryFailures(database, table, "all", now)).toBe(1);
    expect(await listFailures(database, table, 10)).toEqual([{ ...failed, retryAt: now }]);
  });
});
