import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Statement, sql } from "../../../src/store/core/sql.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { tamperedMarket } from "../../harness/markets/tampered-market.js";
import { createTrader, findViolations, type Trader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

/** The writer has the rights of the service's role, and no master key. */
describe("an order that a writer to the database changes", () => {
  let service: TestService;
  let role: ServiceRole;
  let maker: Trader;
  let taker: Trader;
  let market: ReturnType<typeof tamperedMarket>;
  beforeAll(async () => {
    service = await startTestService();
    role = await createServiceRole(service.database);
    market = tamperedMarket(service, role);
  });
  afterAll(async () => {
    await role?.drop();
    expect(await findViolations(service)).toEqual([]);
    await service.stop();
  });
  beforeEach(async () => {
    maker = await createTrader(service, { ETH: "10" });
    taker = await createTrader(service, { USD: "100000" });
  });

  const own = (id: string) => `id = '${readId("ord", id)}'`;
  const value = async (column: string, table: string, id: string) => {
    const [row] = await service.database.query<{ value: string | null }>(
      new Statement(`SELECT ${column}::text AS value FROM ${table} WHERE ${own(id)}`, []),
    );
    return row?.value == null ? "NULL" : `'${row.value}'`;
  };
  const change = async (tables: readonly string[], column: string, to: string, id: string) => {
    const was = await value(column, tables[0] as string, id);
    const set = (text: string) =>
      role.run(tables.map((table) => `UPDATE ${table} SET ${column} = ${text} WHERE ${own(id)}`).join("; "));
    await set(to);
    return () => set(was);
  };
  const take = (price: string) => taker.placed({ side: "buy", price, size: "1", time_in_force: "ioc" });
  /** So that no order is left for the next test. */
  const cancel = async (id: string) => {
    await maker.send("DELETE", `/v1/orders/${id}`);
    await maker.until(id, ({ state }) => state === "cancelled");
  };

  it.each([
    ["a lower price", ["open_orders", "orders"], "price", "price / 2"],
    ["a lower price in the book alone", ["open_orders"], "price", "price / 2"],
    ["a larger size", ["open_orders", "orders"], "size", "size * 2"],
    ["the other side", ["open_orders", "orders"], "side", "'buy'"],
  ])(
    "is not put into the book with %s, and is again once the row is restored",
    async (_, tables, column, to) => {
      const { id } = await maker.placed({ side: "sell", price: "100", size: "1" });
      const restore = await change(tables, column, to, id);
      await market.reload();
      expect(await take("100")).toMatchObject({ filled: "0.00" });
      expect(await maker.read(id)).toMatchObject({ state: "open", filled: "0.00" });
      expect(await market.isListed(id)).toBe(true);
      // The market goes on.
      const other = await maker.placed({ side: "sell", price: "101", size: "1" });
      expect(await take("101")).toMatchObject({ filled: "1.00" });
      expect(await maker.read(other.id)).toMatchObject({ state: "filled" });
      await restore();
      await market.retry(id);
      await market.reload();
      await eventually(
        () => market.isListed(id),
        (listed) => !listed,
      );
      expect(await take("100")).toMatchObject({ filled: "1.00" });
    },
  );

  it("does not pay to another wallet while it is in the book", async () => {
    const { id } = await maker.placed({ side: "sell", price: "100", size: "1" });
    const restore = await change(
      ["open_orders", "orders"],
      "wallet_id",
      `(SELECT w.id FROM wallets w WHERE w.tenant_id = '${readId("tnt", maker.owner.tenantId)}' AND w.role = 'settlement')`,
      id,
    );
    expect(await take("100")).toMatchObject({ filled: "0.00" });
    expect(await market.isListed(id)).toBe(true);
    await restore();
    await market.retry(id);
    await market.reload();
    await cancel(id);
  });

  it("is not admitted with another size, and does not hold up others", async () => {
    await market.pause();
    const { body } = await maker.place({ side: "sell", price: "100", size: "1" });
    const restore = await change(["open_orders", "orders"], "size", "size * 2", body.id);
    await market.resume();
    const other = await maker.placed({ side: "sell", price: "102", size: "1" });
    await eventually(
      () => market.isListed(body.id),
      (listed) => listed,
    );
    expect(await maker.read(body.id)).toMatchObject({ state: "pending" });
    await restore();
    await market.retry(body.id);
    await maker.until(body.id, ({ state }) => state === "open");
    await cancel(body.id);
    await cancel(other.id);
  });

  it("is set aside if there is only a row among the open orders, and others are admitted", async () => {
    const { id } = await maker.placed({ side: "sell", price: "105", size: "1" });
    await role.run(`INSERT INTO open_orders (tenant_id, id, market, wallet_id, side, price, size, state, version)
      SELECT tenant_id, gen_random_uuid(), market, wallet_id, side, 100, size, 'pending', 1 FROM open_orders WHERE ${own(id)}`);
    const other = await maker.placed({ side: "sell", price: "101", size: "1" });
    await cancel(other.id);
    const stray = sql`SELECT FROM open_orders WHERE sequence IS NULL AND retry_at = 'infinity'`;
    await eventually(
      () => service.database.query(stray),
      (rows) => rows.length === 1,
    );
    await service.database.run("DELETE FROM open_orders WHERE sequence IS NULL AND retry_at = 'infinity'");
    await cancel(id);
  });
});
