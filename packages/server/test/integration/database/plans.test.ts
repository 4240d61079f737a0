import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scannedRowsMax } from "../../../src/app/requests/listed.js";
import { listRoutes } from "../../../src/http/api.js";
import type { Route } from "../../../src/http/route.js";
import { removeExpiredCredentials } from "../../../src/store/access/tokens.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { removeOldDeltas } from "../../../src/store/markets/market-levels.js";
import { fillTables } from "../../harness/database/fill-tables.js";
import { explain, findPlanFaults } from "../../harness/database/plans.js";
import { type Recording, recordStatements } from "../../harness/database/recorded-database.js";
import { eventually } from "../../harness/eventually.js";
import { queriesOf, refusalOf } from "../../harness/http/queries-of-route.js";
import { bodyOf, createObjects, pathOf } from "../../harness/http/route-requests.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

/**
 * The query plans of the service's statements: every route is called on tables with data, each statement is recorded, and each is
 * explained. A new route or filter is included automatically if it has a row in `route-requests.ts` or in the values below.
 */
// The stream is excluded, because it is not a request with one response; it has its own tests.
const routes = listRoutes({} as never, "").filter(
  ({ path, success }) => path.startsWith("/v1/") && success.status !== 101,
);

/** Values for each query parameter without an enum; several if they are served by different statements. */
const queryValues: Record<string, readonly string[]> = {
  limit: ["200"],
  reference: ["filler-7", "nobody's"],
  asset: ["USD", "ETH"],
  network: ["book"],
  address: ["0x52908400098527886E0F7030069857D2E4169EE7"],
  version: ["0", "1"],
  frozen: ["true", "false"],
  created_after: [new Date(Date.now() - 3_600_000).toISOString()],
  created_before: [new Date(Date.now() - 3_600_000).toISOString()],
  after: ["0", "5000"],
  market: ["ETH-USD", "USDC-USD"],
  depth: ["10"],
  sequence: ["1", "5000"],
  from_sequence: ["1", "5000"],
  hours: ["1", "720"],
  idempotency_key: ["nobody's"],
  before: ["5000"],
  from: [new Date(Date.now() - 3_600_000).toISOString()],
  to: [new Date(Date.now() + 3_600_000).toISOString()],
  q: ["filler-7", "f", "nobody's", "0x52908400098527886E0F7030069857D2E4169EE7"],
  action: ["filler", "nobody's", "fil*"],
  object: ["nobody's"],
  request_id: ["nobody-s"],
  occurred_after: [new Date(Date.now() - 3_600_000).toISOString()],
  occurred_before: [new Date(Date.now() + 3_600_000).toISOString()],
  // Several values, of parameters that can be repeated.
  state: ["failed,rejected", "completed,failed", "accepted,failed,rejected,cancelled"],
  kinds: ["wallet.updated,endpoint.disabled", "transaction.updated,wallet.updated"],
};

/** These statements read a whole table by design: at startup, one that is empty nearly always, or at most 1000 clients of a tenant. */
const readsAll = [
  'SELECT count(*) >= $1 AS "isFull" FROM clients',
  "SELECT EXISTS (SELECT FROM audit_heads WHERE mac IS NOT NULL)",
  'SELECT tenant_id AS "tenantId", client_id AS "clientId", kind, requested_by',
  "SELECT asset FROM ledger_accounts WHERE asset <> ALL",
  "SELECT level_sequence AS sequence, levels_changed_at",
];

/** What statements may read without returning it, because it is bounded: a page, a slice of the log that is summed or read, and a count. */
function freeRowsOf(text: string): number {
  if (text.includes('"isEnd"')) return 2 * scannedRowsMax;
  if (text.includes("INTO usage_buckets") && text.includes("WITH slice")) return 5000;
  // A step of the reader of the log.
  if (text.includes("INTO transaction_periods") || text.includes("INTO wallet_periods")) return 2000;
  if (text.includes("FROM events") && text.includes("ORDER BY sequence OFFSET")) return 2000;
  // The hours of a client that are summed up.
  if (text.includes("FROM client_hours")) return 2400;
  // What is counted up to a bound.
  if (text.includes("AS counted") || text.includes("AS looked")) return 10_000;
  return text.includes("FROM pending_deliveries p WHERE") && text.includes("count(*)") ? 10_000 : 0;
}

/** A part of some of the statements, to see that they are recorded. */
const statements = [
  "INSERT INTO transactions",
  "FROM open_transactions",
  "ledger_accounts",
  "ledger_entries",
  "INSERT INTO events",
  "audit_entries",
  "used_nonces",
  "FROM clients",
  "JOIN quota_buckets",
  "INSERT INTO orders",
  "INSERT INTO market_commands",
  "INSERT INTO market_deltas",
  "DELETE FROM open_orders",
];

describe("every statement of the service", () => {
  const recording: Recording = new Map();
  let service: TestService;
  beforeAll(async () => {
    const open: typeof openDatabase = (options) => recordStatements(openDatabase(options), recording);
    service = await startTestService({}, undefined, open);
    const owner = await service.createTenant("1000000");
    await service.createTenant("1000");
    await fillTables(service.database);
    const api = transactionsOf(service, await service.token(owner));
    const objects = await createObjects(service, await service.token(owner), owner.clientId);
    await replacePolicy(api);
    await readEverything(api, objects);
    await deposit(owner, objects["wallets"] ?? "");
    await changeEverything(api, objects);
    // The engine and the markets work beside the requests.
    await eventually(findUnseen, (unseen) => unseen.length === 0);
    await removeExpiredCredentials(recordStatements(service.database, recording));
    await addOpenTransactions();
    await addOldDeltas();
    await removeDeadRows();
    await removeOldDeltas(recordStatements(service.database, recording), new Date());
  });
  afterAll(() => service.stop());

  const findUnseen = () =>
    statements.filter((part) => ![...recording.keys()].some((text) => text.includes(part)));

  type Api = ReturnType<typeof transactionsOf>;

  /** Replaces the policy twice, so that there is more than one version. The policy uses sums. */
  async function replacePolicy(api: Api): Promise<void> {
    const route = routes.find(({ operationId }) => operationId === "replacePolicy") as Route;
    for (let version = 0; version < 2; version++) {
      const seen = (await api.send("GET", route.path)).headers.get("etag") ?? "";
      const { status } = await api.send("PUT", route.path, bodyOf(route), { "if-match": seen });
      expect(status).toBe(200);
    }
  }

  /** Only a client of the operator may. Twice, so that the key is found. */
  async function deposit(owner: TestClient, walletId: string): Promise<void> {
    const { token } = await service.createIndependentClient(owner, ["deposits:write"]);
    const body = { reference: "plans", asset: "USD", amount: "1", destination: { wallet_id: walletId } };
    for (const _ of [1, 2]) {
      const headers = { "idempotency-key": "plans" };
      expect((await service.call("POST", "/v1/deposits", token, body, headers)).status).toBe(201);
    }
  }

  /** Reads every list with every filter, alone and in pairs, and a second page. */
  async function readEverything(api: Api, objects: Record<string, string>): Promise<void> {
    for (const route of routes.filter(({ method }) => method === "GET")) {
      const own = {
        wallet_id: [objects["wallets"] ?? ""],
        client_id: [objects["clients"] ?? ""],
        subject_id: [objects["transactions"] ?? "", objects["wallets"] ?? ""],
        endpoint_id: [objects["webhook-endpoints"] ?? ""],
        object: [objects["transactions"] ?? "", objects["wallets"] ?? ""],
      };
      for (const query of queriesOf(route, { ...queryValues, ...own })) {
        const page = async (more: string) => {
          const ask = () => api.send("GET", `${pathOf(route, objects)}?${query}${more}`);
          // A machine with nothing else to do asks faster than the quota allows.
          const answer = await eventually(ask, ({ status }) => status !== 429);
          const expected = refusalOf(route.path, query) ?? 200;
          expect([route.path, query, answer.status]).toEqual([route.path, query, expected]);
          return (answer.body as unknown as { next_cursor?: string | null }).next_cursor;
        };
        const cursor = await page("");
        if (typeof cursor === "string") await page(`&cursor=${cursor}`);
      }
    }
  }

  /** Calls every other route twice with the same key. Routes that delete come last: one ends the secret of the token. */
  async function changeEverything(api: Api, objects: Record<string, string>): Promise<void> {
    const isDeleting = ({ method }: Route) => method === "DELETE";
    const changing = routes.filter(({ method }) => method !== "GET");
    await callTwice(
      api,
      objects,
      changing.filter((route) => !isDeleting(route)),
    );
    await api.settled(objects["transactions"] ?? "");
    // A transaction can be cancelled only before the engine claims it, so several are tried.
    for (let attempt = 0; attempt < 5; attempt++) {
      const { body } = await api.create({ reference: "plans", asset: "USD", amount: "1" });
      await api.send("POST", `/v1/transactions/${body.id}/cancel`);
    }
    await callTwice(api, objects, changing.filter(isDeleting));
  }

  async function callTwice(
    api: Api,
    objects: Record<string, string>,
    called: readonly Route[],
  ): Promise<void> {
    for (const route of called) {
      for (const attempt of [1, 2]) {
        const headers =
          route.idempotent === undefined ? undefined : { "idempotency-key": `plans-${route.operationId}` };
        const { status } = await api.send(route.method, pathOf(route, objects), bodyOf(route), headers);
        expect([route.operationId, attempt, status]).toEqual([
          route.operationId,
          attempt,
          expect.any(Number),
        ]);
        expect(status).toBeLessThan(500);
      }
    }
  }

  /** Adds a little more than a batch of open transactions. The service is stopped, because it would settle them. */
  async function addOpenTransactions(): Promise<void> {
    await service.service.stop();
    await service.database.run(`
      INSERT INTO open_transactions
        SELECT tenant_id, id, 'accepted', 1 FROM transactions WHERE reference IN ('filler-1', 'filler-2', 'filler-3', 'filler-4',
          'filler-5', 'filler-6', 'filler-7', 'filler-8', 'filler-9', 'filler-10', 'filler-11', 'filler-12')`);
  }

  /** Added when the service is stopped, because it removes them every minute. */
  async function addOldDeltas(): Promise<void> {
    await service.database.run(`
      INSERT INTO market_deltas SELECT 'ETH-USD', -n, -n - 1, '[]', now() - interval '2 hours' FROM generate_series(10001, 15000) n`);
  }

  /** What the service has removed in this minute would be read again, and how much that is depends on the clock. */
  async function removeDeadRows(): Promise<void> {
    for (const table of ["market_deltas", "webhook_hours"]) await service.database.run(`VACUUM ${table}`);
    await service.database.run("ANALYZE");
  }

  it("was recorded", () => {
    expect(findUnseen()).toEqual([]);
    expect(recording.size).toBeGreaterThan(60);
  });

  it("is served by an index, reads few more rows than it returns, and sorts no more than a page", async () => {
    expect(await findFaults()).toEqual([]);
  });

  it("is reported if its index is missing", async () => {
    await service.database.run("DROP INDEX transactions_by_reference");
    const page = 'ROW(t.reference COLLATE "C", t.id)';
    expect((await findFaults(page)).join("\n")).toContain(page);
  });

  async function findFaults(part = ""): Promise<string[]> {
    const faults = new Set<string>();
    await service.database.session(async (session) => {
      for (const statement of [...recording.values()].flat()) {
        if (!statement.text.includes(part)) continue;
        if (readsAll.some((start) => statement.text.trim().startsWith(start))) continue;
        const plan = await explain(session, statement);
        // Two indexes of a wallet, or two tables of deliveries.
        const freeRows = freeRowsOf(statement.text);
        for (const fault of plan === undefined ? [] : findPlanFaults(plan, freeRows))
          faults.add(
            `${fault}: ${statement.text.replace(/\s+/g, " ").trim()} ${JSON.stringify(statement.values)}`,
          );
      }
    });
    return [...faults];
  }
});
