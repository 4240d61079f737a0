import { randomUUID } from "node:crypto";
import { compilePolicy, createAssetRegistry, createTimeZones } from "@bursar/domain";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Settlement } from "../../../src/app/transactions/settlement.js";
import { createEngine } from "../../../src/engine/engine.js";
import { createBatchSettler } from "../../../src/engine/settle-batch.js";
import { bookRail } from "../../../src/rails/book/book-rail.js";
import { nodeTimers } from "../../../src/runtime/loops/timers.js";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createSettlementStore } from "../../../src/store/transactions/settlement.js";
import { createWalletActivation } from "../../../src/store/wallets/activate-wallets.js";
import { sealOpenTransactions } from "../../harness/database/seal-rows.js";
import { testAssets } from "../../harness/service/test-assets.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

const { policy } = compilePolicy(
  { rules: [], default: { action: "allow" } },
  {
    assets: createAssetRegistry([]),
    networks: new Set(["book"]),
    markets: new Set(),
    timeZones: createTimeZones(),
  },
);
if (policy === undefined) throw new Error("the policy does not compile");
/** What waits for approval is judged by it again. */
const active = { version: 1, policy, guards: [] };

/** Counts batches and not time: how many of them pass before the transaction of a tenant with little to do is settled. */
describe("a tenant with a backlog", () => {
  let service: TestService;
  let greedy: string;
  let other: string;
  beforeAll(async () => {
    service = await startTestService();
    greedy = readId("tnt", (await service.createTenant("1000000")).tenantId) ?? "";
    other = readId("tnt", (await service.createTenant("1000")).tenantId) ?? "";
    // What the test adds is settled by an engine of its own.
    await service.service.stop();
  });
  afterAll(() => service.stop());

  /** Payments from a tenant's primary wallet to its settlement wallet, in this state, the first a minute ago. */
  const addOpen = async (
    tenantId: string,
    count: number,
    more: { state: string; columns?: string; values?: string },
  ) => {
    await service.database.run(`
      WITH made AS (
        INSERT INTO transactions (tenant_id, id, idempotency_key, request_hash, client_id, reference, asset, amount,
          source_account_id, destination_account_id, created_at)
        SELECT p.tenant_id, uuidv7(n * interval '1 millisecond' - interval '1 minute'), gen_random_uuid()::text, '\\x00',
          (SELECT id FROM clients c WHERE c.tenant_id = p.tenant_id LIMIT 1), 'backlog', 'USD', 1, p.id, s.id, now()
        FROM wallets p JOIN wallets s ON s.tenant_id = p.tenant_id AND s.role = 'settlement', generate_series(1, ${count}) n
        WHERE p.tenant_id = '${tenantId}' AND p.role = 'primary' RETURNING tenant_id, id)
      INSERT INTO open_transactions (tenant_id, id, state, version ${more.columns ?? ""})
        SELECT tenant_id, id, '${more.state}', 1 ${more.values ?? ""} FROM made;
    `);
    await seal(tenantId);
  };
  const seal = (tenantId: string) =>
    sealOpenTransactions(service.database, service.keys, sql`o.tenant_id = ${tenantId}`);

  /** Runs an engine until the other tenant has nothing open, and returns the tenants of each batch. */
  async function batchesUntilOtherIsDone(): Promise<string[][]> {
    const events = createEventLog({ publish: () => undefined });
    const settlements = createSettlementStore(withKeys(service.database, service.keys), events, testAssets);
    const policies = {
      within: () => ({
        peek: () => undefined,
        loadAll: async (tenantIds: readonly string[]) => new Map(tenantIds.map((id) => [id, active])),
      }),
    };
    const batches: string[][] = [];
    await new Promise<void>((resolve, reject) => {
      const onChanged = (settled: readonly Settlement[]) => {
        const tenantIds = settled.map(({ transaction }) => transaction.tenantId);
        batches.push([...new Set(tenantIds)]);
        if (tenantIds.includes(other)) resolve();
      };
      const engine = createEngine({
        settleBatch: createBatchSettler({
          settlements,
          rails: { get: () => bookRail },
          policies,
          isUnavailable: () => false,
          isTimeout: () => false,
          isLockTimeout: () => false,
          onFailure: (_, error) => reject(error),
          onTampered: ({ id }) => reject(new Error(`${id} is tampered`)),
          now: Date.now,
        }),
        findWork: settlements.findWork,
        wallets: createWalletActivation(service.database, events, [], (_, error) => reject(error)),
        onChanged,
        onError: reject,
        onStalled: (tenantId) => reject(new Error(`${tenantId} is locked`)),
        isNotified: () => true,
        now: Date.now,
        monotonicMs: () => performance.now(),
        timers: nodeTimers,
      });
      engine.start();
      void Promise.resolve().then(() => stops.push(engine.stop));
    });
    await Promise.all(stops.splice(0).map((stop) => stop()));
    return batches;
  }
  const stops: (() => Promise<void>)[] = [];

  it("delays what another has accepted by at most one batch", async () => {
    await addOpen(greedy, 20_000, { state: "accepted" });
    await addOpen(other, 1, { state: "accepted" });
    expect((await batchesUntilOtherIsDone()).length).toBeLessThanOrEqual(2);
    await service.database.run(`DELETE FROM open_transactions WHERE tenant_id = '${greedy}'`);
  });

  it("delays what another is to retry by at most one batch", async () => {
    const failed = {
      columns: ", attempts, last_error, retry_at",
      values: ", 1, 'failed', now() - interval '1 hour'",
    };
    await addOpen(greedy, 2000, { state: "accepted", ...failed });
    await addOpen(other, 1, {
      state: "accepted",
      ...failed,
      values: ", 1, 'failed', now() - interval '1 second'",
    });
    expect((await batchesUntilOtherIsDone()).length).toBeLessThanOrEqual(2);
    await service.database.run(`DELETE FROM open_transactions WHERE tenant_id = '${greedy}'`);
  });

  it("delays approvals of another that expire later by at most one batch", async () => {
    const requirement = JSON.stringify({ minimum: 1, from: [], expiresAfterSeconds: 1 });
    for (const [tenantId, count, since] of [
      [greedy, 2000, "1 hour"],
      [other, 1, "2 seconds"],
    ] as const) {
      await addOpen(tenantId, count, {
        state: "awaiting_approval",
        columns: ", due_at",
        values: `, now() - interval '${since}'`,
      });
      await service.database.run(`
        INSERT INTO judgements (tenant_id, transaction_id, policy_version, rule, requirement, judged_at)
        SELECT tenant_id, id, 1, 'r', '${requirement}', now() - interval '2 hours' FROM open_transactions
        WHERE tenant_id = '${tenantId}' AND state = 'awaiting_approval';
        UPDATE ledger_accounts SET available = available - ${count}, held = held + ${count}
        WHERE tenant_id = '${tenantId}' AND asset = 'USD'
          AND account_id = (SELECT id FROM wallets WHERE tenant_id = '${tenantId}' AND role = 'primary')`);
      await seal(tenantId);
    }
    expect((await batchesUntilOtherIsDone()).length).toBeLessThanOrEqual(2);
    await service.database.run(`DELETE FROM open_transactions WHERE tenant_id = '${greedy}'`);
  });

  it("delays new wallets of another by no batch at all", async () => {
    const create = (tenantId: string, count: number) =>
      service.database.run(`
        INSERT INTO wallets (tenant_id, id, name, purpose, network, state, version, created_at, updated_at)
        SELECT '${tenantId}', uuidv7(n * interval '1 millisecond' - interval '1 minute'), '${randomUUID()}', 'payout', 'book',
          'creating', 1, now(), now() FROM generate_series(1, ${count}) n`);
    await create(greedy, 3000);
    await create(other, 1);
    const activation = createWalletActivation(
      service.database,
      createEventLog({ publish: () => undefined }),
      ["book"],
      (_, error) => {
        throw error;
      },
    );
    await activation.activateWallets(500, new Date());
    const waiting = await service.database.query<{ tenant_id: string }>({
      text: "SELECT DISTINCT tenant_id FROM wallets WHERE state = 'creating'",
      values: [],
    });
    expect(waiting.map(({ tenant_id }) => tenant_id)).toEqual([greedy]);
  });
});
