import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, openDatabase, type Queryable } from "../../../src/store/core/database.js";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, type Trader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

/**
 * Written by time: leases, quotas, the audit log, when a secret was last used, and what the reader of the event log derives from it. Every other table is counted,
 * also those of chains, people and webhooks, which a book transaction has nothing to do with.
 */
const uncountedTables = [
  "audit_%",
  "quota_%",
  "%lease%",
  "markets",
  "client_secrets",
  "%\\_hours",
  "log_positions",
  "%\\_periods",
  "wallet_entries",
];

/** Those that claim, judge and write a group of book transactions, in one SQL transaction. */
const settleStatements = 10;

/** The statements of each SQL transaction; what is run outside of one is a transaction of its own. */
function recordUnits(database: Database, units: string[][]): Database {
  const record = <Q extends Queryable>(source: Q, unit: () => string[]): Q => ({
    ...source,
    query: <Row>(statement: Statement) => {
      unit().push(statement.text);
      return source.query<Row>(statement);
    },
  });
  const begin = () => {
    const unit: string[] = [];
    units.push(unit);
    return unit;
  };
  return {
    ...record(database, begin),
    transaction: (work) =>
      database.transaction((tx) => {
        const unit = begin();
        return work({
          ...record(tx, () => unit),
          send: (statement) => {
            unit.push(statement.text);
            tx.send(statement);
          },
        });
      }),
  };
}

describe("the rows that are written", () => {
  const units: string[][] = [];
  let service: TestService;
  let buyer: Trader;
  let seller: Trader;
  beforeAll(async () => {
    service = await startTestService({}, undefined, (options) =>
      recordUnits(openDatabase({ connectTimeoutMs: 60_000, statementTimeoutMs: 60_000, ...options }), units),
    );
    buyer = await createTrader(service, { USD: "100000" });
    seller = await createTrader(service, { ETH: "100" });
    // Afterwards every account is there.
    await pay("1");
    await trade();
    const countedTables = await service.database.query<{ name: string }>(sql`
      SELECT tablename AS name FROM pg_tables
      WHERE schemaname = current_schema() AND NOT tablename LIKE ANY (${uncountedTables}::text[])
    `);
    expect(countedTables.length).toBeGreaterThan(50);
    await service.database.run(`
      CREATE TABLE written_rows (name text NOT NULL, operation text NOT NULL);
      CREATE FUNCTION count_written_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN INSERT INTO written_rows VALUES (TG_TABLE_NAME, lower(TG_OP)); RETURN NULL; END $$;
      ${countedTables
        .map(
          ({ name }) =>
            `CREATE TRIGGER count_rows AFTER INSERT OR UPDATE OR DELETE ON ${name}
             FOR EACH ROW EXECUTE FUNCTION count_written_row();`,
        )
        .join("\n")}`);
  });
  afterAll(() => service.stop());

  async function pay(amount: string): Promise<void> {
    const api = transactionsOf(service, buyer.token);
    const { body } = await api.create({ reference: "rows", asset: "USD", amount });
    expect(await api.settled(body.id)).toMatchObject({ state: "completed" });
  }

  async function rest(): Promise<string> {
    const { id } = await seller.placed({ side: "sell", price: "3000", size: "1" });
    return id;
  }

  async function take(restingId: string): Promise<void> {
    await buyer.placed({ side: "buy", price: "3000", size: "1" });
    await seller.until(restingId, ({ state }) => state === "filled");
  }

  async function trade(): Promise<void> {
    await take(await rest());
  }

  async function writtenBy(work: () => Promise<unknown>): Promise<Record<string, string>> {
    await service.database.run("TRUNCATE written_rows");
    await work();
    const rows = await service.database.query<{ name: string; counts: string }>(sql`
      SELECT name, string_agg(operation || ' ' || count, ', ' ORDER BY operation) AS counts
      FROM (SELECT name, operation, count(*) FROM written_rows GROUP BY 1, 2) counted GROUP BY name ORDER BY name
    `);
    return Object.fromEntries(rows.map(({ name, counts }) => [name, counts]));
  }

  it("for a book transaction are its request, its entry, its event, two balances and what it counts towards", async () => {
    expect(await writtenBy(() => pay("2"))).toMatchInlineSnapshot(`
      {
        "event_sequences": "update 1",
        "events": "insert 1",
        "ledger_accounts": "update 2",
        "ledger_entries": "insert 1",
        "open_transactions": "delete 1, insert 1",
        "transactions": "insert 1",
      }
    `);
  });

  it("take the same few statements for one book transaction and for twenty", async () => {
    const statementsOf = async (count: number) => {
      units.length = 0;
      const transactions = Array.from({ length: count }, (_, index) => ({
        ...{
          reference: `many ${index}`,
          asset: "USD",
          amount: "1",
          idempotency_key: `many-${count}-${index}`,
        },
      }));
      const made = await buyer.send("POST", "/v1/transactions/batch", { transactions });
      expect(made.status).toBe(202);
      const { data } = made.body as unknown as { data: { transaction: { id: string } }[] };
      const api = transactionsOf(service, buyer.token);
      for (const { transaction } of data)
        expect(await api.settled(transaction.id)).toMatchObject({ state: "completed" });
      const found = (pattern: RegExp) => units.filter((unit) => unit.some((text) => pattern.test(text)));
      return { accept: found(/INSERT INTO transactions\b/), settle: found(/INSERT INTO ledger_entries\b/) };
    };
    const lengths = (found: string[][]) => found.map((unit) => unit.length);
    const [one, twenty] = [await statementsOf(1), await statementsOf(20)];
    expect([lengths(one.accept), lengths(one.settle)]).toEqual([[1], [settleStatements]]);
    // On a busy machine they can come in several groups.
    expect(new Set(lengths(twenty.accept))).toEqual(new Set([1]));
    expect(new Set(lengths(twenty.settle))).toEqual(new Set([settleStatements]));
  });

  it("for an order that rests are its request, its hold, its command and its event", async () => {
    expect(await writtenBy(rest)).toMatchInlineSnapshot(`
      {
        "event_sequences": "update 2",
        "events": "insert 1",
        "ledger_accounts": "update 1",
        "market_commands": "insert 1",
        "market_deltas": "insert 1",
        "open_orders": "insert 1, update 2",
        "orders": "insert 1",
      }
    `);
  });

  it("for a trade are the trade, a line for each movement, both orders' events and the balances", async () => {
    const resting = await eventually(
      async () =>
        (await seller.send("GET", "/v1/orders?state=open")).body as unknown as { data: { id: string }[] },
      ({ data }) => data.length === 1,
    );
    expect(await writtenBy(() => take(resting.data[0]?.id ?? ""))).toMatchInlineSnapshot(`
      {
        "event_sequences": "update 3",
        "events": "insert 2",
        "ledger_accounts": "update 13",
        "ledger_entries": "insert 6",
        "market_commands": "insert 1",
        "market_deltas": "insert 1",
        "open_orders": "delete 2, insert 1, update 1",
        "orders": "insert 1",
        "trades": "insert 1",
      }
    `);
  });
});
