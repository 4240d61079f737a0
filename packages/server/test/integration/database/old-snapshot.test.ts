import { timeOfUuidV7 } from "@bursar/domain";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createSettlementStore } from "../../../src/store/transactions/settlement.js";
import { type Recording, recordStatements } from "../../harness/database/recorded-database.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { testAssets } from "../../harness/service/test-assets.js";

const busy = "00000000-0000-7000-8000-00000000000a";
const other = "00000000-0000-7000-8000-00000000000b";
const settledCount = 50_000;

/** Counts the index entries that a statement follows to their rows: what it costs, on any machine. */
describe("while an old snapshot is open, as during a backup, and much was settled since", () => {
  let database: TestDatabase;
  let backup: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    backup = new pg.Client({ connectionString: database.url });
    await backup.connect();
    await backup.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
    await backup.query("SELECT FROM open_transactions");
    await database.run(`
      INSERT INTO open_transactions (tenant_id, id, state, version)
        SELECT '${busy}', uuidv7(n * interval '10 milliseconds' - interval '1 hour'), 'accepted', 1
        FROM generate_series(1, ${settledCount}) n;
      DELETE FROM open_transactions;
      INSERT INTO open_transactions (tenant_id, id, state, version)
        SELECT tenant_id, uuidv7(interval '-1 second'), 'accepted', 1 FROM (VALUES ('${busy}'::uuid), ('${other}')) t (tenant_id)`);
  });
  afterAll(async () => {
    await backup.end();
    await database.drop();
  });

  /** Runs what the store sends, and returns its result and how many entries its statements have read. */
  async function read<T>(work: (store: ReturnType<typeof createSettlementStore>) => Promise<T>) {
    const recording: Recording = new Map();
    const result = await work(
      createSettlementStore(
        recordStatements(database, recording),
        createEventLog({ publish: () => undefined }),
        testAssets,
      ),
    );
    const statements = [...recording.values()].flat();
    const entries = await database.session((session) => countEntries(session.query, statements));
    return { result, entries };
  }

  async function countEntries(
    query: <Row>(statement: Statement) => Promise<Row[]>,
    statements: readonly Statement[],
  ): Promise<number> {
    // The server adds up what a session has read until it reports it, at the end of some transaction.
    const readSoFar = async () => {
      const [counted] = await query<{ entries: string }>(sql`
        SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) AS entries
        FROM pg_index WHERE indrelid = 'open_transactions'::regclass
      `);
      return Number(counted?.entries);
    };
    await query(sql`BEGIN`);
    const before = await readSoFar();
    for (const statement of statements) await query(statement);
    const after = await readSoFar();
    await query(sql`ROLLBACK`);
    return after - before;
  }

  const look = (acceptedFrom: Date | undefined) =>
    read((store) => store.findWork({ limit: 500, afterTenantId: undefined, acceptedFrom, now: new Date() }));
  const both = [
    { tenantId: busy, firstId: expect.any(String) },
    { tenantId: other, firstId: expect.any(String) },
  ];

  it("a look at everything reads all of it, and finds what waits", async () => {
    const { result, entries } = await look(undefined);
    expect(result.tenants).toEqual(both);
    expect(entries).toBeGreaterThanOrEqual(settledCount);
  });

  it("a look at what is recent reads none of it, and finds the same", async () => {
    const { result, entries } = await look(new Date(Date.now() - 60_000));
    expect(result.tenants).toEqual(both);
    expect(entries).toBeLessThan(10);
  });

  it("a claim begins at the first transaction that a look has seen, and reads none of it", async () => {
    const { result } = await look(undefined);
    const claims = result.tenants.map(({ tenantId, firstId }) => ({
      tenantId,
      acceptedFrom: new Date(timeOfUuidV7(firstId)),
    }));
    const { entries } = await read((store) => store.unitOfWork((unit) => unit.claimAccepted(claims, 250)));
    expect(entries).toBeGreaterThanOrEqual(2);
    expect(entries).toBeLessThan(10);
  });
});
