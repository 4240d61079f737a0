import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  listCancellingStops,
  listStoppedPayments,
} from "../../../src/store/access/stops/stopped-payments.js";
import { createSweepStore } from "../../../src/store/access/sweeps.js";
import { removeExpiredCredentials } from "../../../src/store/access/tokens.js";
import { openDatabase, withKeys } from "../../../src/store/core/database.js";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { removeOldDeltas } from "../../../src/store/markets/market-levels.js";
import { readQueues } from "../../../src/store/metrics/read-queues.js";
import { createSettlementStore } from "../../../src/store/transactions/settlement.js";
import { createBacklogStore } from "../../../src/store/webhooks/delivery-backlogs.js";
import { removeOldDeliveries } from "../../../src/store/webhooks/webhook-retention.js";
import { beliefs } from "../../harness/database/beliefs.js";
import { fillTables, runLong } from "../../harness/database/fill-tables.js";
import { explain, explainPrepared, findPlanFaults, prepareNow } from "../../harness/database/plans.js";
import { type Recording, recordStatements } from "../../harness/database/recorded-database.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader } from "../../harness/markets/trader.js";
import { testAssets } from "../../harness/service/test-assets.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";
import { webhooksOf } from "../../harness/webhooks/webhooks-client.js";

/** Statements that claim, lock, write or remove rows of queues; requests and lists have a test of their own. */
const isOfQueue = ({ text }: Statement) =>
  /(UPDATE|DELETE FROM|FROM|JOIN) (open_transactions|open_orders|pending_deliveries|webhook_leases|delivery_backlogs|market_deltas|used_nonces|usage_windows|usage_buckets)\b|FROM stop_records s\b|UPDATE (ledger_accounts|wallets)|ledger_accounts a\b|state = 'creating'/.test(
    text,
  ) && !/\)\s*page\b|INSERT INTO (transactions|orders)|SELECT level_sequence/.test(text);

/** The statement of the metrics counts rows, up to this many. */
const countedRowsMax = 10_000;
const freeRowsOf = ({ text }: Statement) => (text.includes("FROM ledger_audits") ? countedRowsMax : 0);

describe("a statement of a queue", () => {
  const recording: Recording = new Map();
  let service: TestService;
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    const open: typeof openDatabase = (options) => recordStatements(openDatabase(options), recording);
    service = await startTestService({}, undefined, open);
    receiver = await startWebhookReceiver();
    const owner = await service.createTenant("1000000");
    await work(await service.token(owner));
    await trade();
    await service.service.stop();
    await service.database.run("DELETE FROM trades");
    await fillTables(service.database);
    await lookAtTheRest(readId("tnt", owner.tenantId) ?? "");
    await addOpenTransactions();
  });
  afterAll(async () => {
    await service.stop();
    await receiver.stop();
  });

  async function work(token: string): Promise<void> {
    const webhooks = webhooksOf(service, token);
    await webhooks.createEndpoint(receiver.url);
    const items = Array.from({ length: 100 }, (_, index) => ({
      ...{ idempotency_key: `key-${index}`, reference: `r${index}`, asset: "USD", amount: "1" },
    }));
    await webhooks.send("POST", "/v1/transactions/batch", { transactions: items });
    await webhooks.send("POST", "/v1/wallets", { name: "new", purpose: "payout" });
    await eventually(
      () => webhooks.list("state=delivered&limit=200"),
      (delivered) => delivered.length >= 100,
    );
  }

  /** Orders that are rejected, rest, are reduced, match and are cancelled. */
  async function trade(): Promise<void> {
    const trader = await createTrader(service, { USD: "100000", ETH: "10" });
    const maker = await createTrader(service, { USD: "100000", ETH: "10" });
    const limit = { type: "limit", price: "2000.00" };
    await trader.placed({ ...limit, side: "sell", size: "100" });
    const resting = await maker.placed({ ...limit, side: "sell", size: "1" });
    await maker.send("PATCH", `/v1/orders/${resting.id}`, { size: "0.5" });
    await trader.placed({ ...limit, side: "buy", size: "0.1" });
    await maker.send("DELETE", `/v1/orders/${resting.id}`);
    await maker.until(resting.id, ({ state }) => state === "cancelled");
  }

  async function lookAtTheRest(tenantId: string): Promise<void> {
    const database = recordStatements(service.database, recording);
    const log = createEventLog({ publish: () => undefined });
    const settlements = createSettlementStore(database, log, testAssets);
    const now = new Date();
    const keys = [{ tenantId, id: tenantId }];
    await settlements.findWork({ limit: 500, afterTenantId: tenantId, acceptedFrom: undefined, now });
    await settlements.unitOfWork(async (unit) => {
      await unit.claimDue(100, now);
      await unit.claimRetries(100, now);
      await unit.claimAgain(keys);
      await unit.claimOnRail("book", keys);
    });
    const [{ clientId } = { clientId: tenantId }] = await service.database.query<{ clientId: string }>(
      sql`SELECT client_id AS "clientId" FROM transactions WHERE tenant_id = ${tenantId} LIMIT 1`,
    );
    const stop = { tenantId, clientId, recordedAt: new Date(now.getTime() + 86_400_000), isPast: true };
    await listStoppedPayments(database, stop, undefined, 100);
    await addStops(tenantId, clientId);
    await listCancellingStops(database, undefined, 100);
    const sweep = { tenantId, clientId, kind: "cancel_transactions", requestedBy: clientId } as const;
    const requestedAt = new Date(now.getTime() - 3_600_000);
    await createSweepStore(withKeys(database, service.keys)).listOpen(
      { ...sweep, requestedAt },
      undefined,
      100,
    );
    await service.database.run(`INSERT INTO delivery_backlogs VALUES ('${tenantId}', 0)`);
    await createBacklogStore(database).writeSome(tenantId, 10);
    await readQueues(database, ["ETH-USD"], now);
    await removeExpiredCredentials(database);
    await removeOldDeltas(database, now);
    const onFailure = (_: unknown, error: unknown) => {
      throw error;
    };
    await addDeletedEndpoints(tenantId);
    await removeOldDeliveries(database, {
      before: new Date(now.getTime() - 9_900_000),
      isStopping: () => false,
      onFailure,
    });
    // Again, so that there is something to remove when the statement is explained.
    await addDeletedEndpoints(tenantId);
  }

  /** Clients that were disabled once, and one that was disabled and enabled often. */
  const addStops = (tenantId: string, clientId: string) =>
    runLong(
      service.database,
      `INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at, cancels)
        SELECT t.id, gen_random_uuid(), 1, true, now() - n * interval '1 minute', true FROM tenants t, generate_series(1, 1000) n
        UNION ALL SELECT '${tenantId}', '${clientId}', n, n % 2 = 1, now() - (2000 - n) * interval '1 minute', n % 2 = 1
        FROM generate_series(1, 1000) n;
      ANALYZE stop_records`,
    );

  /** Of another tenant: endpoints of one with a backlog stay. */
  const addDeletedEndpoints = (tenantId: string) =>
    service.database.run(`
      INSERT INTO webhook_endpoints (tenant_id, id, url, events, state, secret, version, created_at, updated_at)
        SELECT t.id, lpad(n::text, 32, '0')::uuid, 'https://deleted.example', '{*}', 'deleted', '', 2, now(), now()
        FROM generate_series(1, 20) n, (SELECT id FROM tenants WHERE id <> '${tenantId}' ORDER BY id LIMIT 1) t`);

  /** A backlog, and among many other rows some that wait for approval or for their next attempt. */
  const addOpenTransactions = () =>
    runLong(
      service.database,
      `INSERT INTO open_transactions (tenant_id, id, state, version, due_at, retry_at)
        SELECT tenant_id, id, CASE WHEN n % 10 = 1 THEN 'awaiting_approval' ELSE 'accepted' END, 1,
          CASE WHEN n % 10 = 1 THEN now() + interval '1 day' END, CASE WHEN n % 10 = 2 THEN now() + interval '1 day' END
        FROM (SELECT tenant_id, id, row_number() OVER () AS n FROM transactions WHERE reference LIKE 'filler-%') AS numbered
        WHERE n <= 15000 ON CONFLICT DO NOTHING`,
    );

  it("was recorded", () => {
    const texts = [...recording.values()].flat().filter(isOfQueue);
    for (const part of [
      "DELETE FROM open_transactions",
      "DELETE FROM open_orders",
      "UPDATE open_orders",
      "DELETE FROM pending_deliveries",
      "DELETE FROM webhook_endpoints",
      "UPDATE ledger_accounts",
      "UPDATE webhook_leases",
      "DELETE FROM market_deltas",
      "o.state = 'awaiting_approval'",
      "o.sequence IS NULL",
    ])
      expect(
        texts.some(({ text }) => text.includes(part)),
        part,
      ).toBe(true);
  });

  it.each(Object.entries(beliefs))(
    "is a look into an index for each row if statistics %s",
    async (belief, believe) => {
      await service.database.run(believe);
      const faults = new Set<string>();
      await service.database.session(async (session) => {
        for (const statements of recording.values())
          for (const statement of statements.filter(isOfQueue).slice(0, 3)) {
            // To a planner that takes a filled table for empty, the lower of two indexes is the better one. The table of a plan that was
            // made while it was empty has indexes of one height.
            if (belief === "say that every table is empty" && statement.text.includes("AS is_first"))
              continue;
            const plan = await explain(session, statement);
            for (const fault of plan === undefined ? [] : findPlanFaults(plan, freeRowsOf(statement)))
              faults.add(`${fault}: ${statement.text.replace(/\s+/g, " ").trim()}`);
          }
      });
      expect([...faults]).toEqual([]);
    },
  );

  it("is a look into an index for each row if it was prepared while every table was empty", async () => {
    const { database } = service;
    const tables = await database.query<{ name: string }>(sql`
      SELECT relname AS name FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname NOT LIKE 'audit%'
        AND relname NOT IN ('schema_migrations', 'database_epochs', 'lifted_sequences')
    `);
    const names = tables.map(({ name }) => name);
    await database.run("CREATE SCHEMA kept");
    for (const name of names) {
      await runLong(database, `CREATE TABLE kept.${name} AS TABLE public.${name}`);
      await database.run(`ALTER TABLE public.${name} SET (autovacuum_enabled = off)`);
    }
    await database.run(`TRUNCATE ${names.join(", ")}`);
    const statements = [...recording.values()].flatMap((runs) => runs.filter(isOfQueue).slice(0, 2));
    const faults = new Set<string>();
    await database.session(async (session) => {
      for (const [index, statement] of statements.entries())
        await prepareNow(session, `s${index}`, statement);
      for (const name of names)
        await runLong(
          database,
          // In any order, whatever refers to what.
          `SET session_replication_role = replica;
           INSERT INTO public.${name} OVERRIDING SYSTEM VALUE TABLE kept.${name};
           RESET session_replication_role`,
        );
      for (const [index, statement] of statements.entries()) {
        const plan = await explainPrepared(session, `s${index}`, statement);
        for (const fault of plan === undefined ? [] : findPlanFaults(plan, freeRowsOf(statement)))
          faults.add(`${fault}: ${statement.text.replace(/\s+/g, " ").trim()}`);
      }
    });
    expect([...faults]).toEqual([]);
  });
});
