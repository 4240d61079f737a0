import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, type Trader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";

/** Rows are what transactions, orders and trades cost. Leases, quotas and the audit log are written by time, not by these. */
const countedTables = [
  "transactions",
  "open_transactions",
  "judgements",
  "ledger_accounts",
  "ledger_entries",
  "events",
  "event_sequences",
  "usage_buckets",
  "orders",
  "open_orders",
  "order_judgements",
  "market_commands",
  "market_deltas",
  "trades",
];

describe("the rows that are written", () => {
  let service: TestService;
  let buyer: Trader;
  let seller: Trader;
  beforeAll(async () => {
    service = await startTestService();
    buyer = await createTrader(service, { USD: "100000" });
    seller = await createTrader(service, { ETH: "100" });
    // Afterwards every account is there.
    await pay("1");
    await trade();
    await service.database.run(`
      CREATE TABLE written_rows (name text NOT NULL, operation text NOT NULL);
      CREATE FUNCTION count_written_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
        $$ BEGIN INSERT INTO written_rows VALUES (TG_TABLE_NAME, lower(TG_OP)); RETURN NULL; END $$;
      ${countedTables
        .map(
          (table) =>
            `CREATE TRIGGER count_rows AFTER INSERT OR UPDATE OR DELETE ON ${table}
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
