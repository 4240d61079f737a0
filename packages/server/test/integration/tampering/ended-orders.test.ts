import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { describeAct, nilTenantId } from "../../../src/app/audit/audit-entry.js";
import { Statement, sql } from "../../../src/store/core/sql.js";
import { resumeMarket } from "../../../src/store/markets/halt-market.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { tamperedMarket } from "../../harness/markets/tampered-market.js";
import { createTrader, findViolations, type Trader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

/** The writer has the rights of the service's role, and no master key. */
let service: TestService;
let role: ServiceRole;
let market: ReturnType<typeof tamperedMarket>;
let maker: Trader;
let taker: Trader;
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
const ask = async (text: string) =>
  (await service.database.query<{ value: string }>(new Statement(`SELECT (${text})::text AS value`, [])))[0]
    ?.value ?? "";
const rowOf = (id: string) => ask(`SELECT row_to_json(p) FROM open_orders p WHERE ${own(id)}`);
/** The row as it was, with its MAC. */
const restoreRow = (id: string, row: string) =>
  role.run(`DELETE FROM open_orders WHERE ${own(id)};
    INSERT INTO open_orders SELECT * FROM json_populate_record(NULL::open_orders, '${row}')`);
/** As a new order that waits to be admitted. */
const placeAgain = (id: string, version: string) =>
  role.run(`INSERT INTO open_orders (tenant_id, id, market, wallet_id, side, price, size, state, version)
    SELECT tenant_id, id, market, wallet_id, side, price, size, 'pending', ${version} FROM orders WHERE ${own(id)}`);
const take = (price: string, size = "1") => taker.placed({ side: "buy", price, size, time_in_force: "ioc" });
const cancel = async (id: string, who = maker) => {
  await who.send("DELETE", `/v1/orders/${id}`);
  await who.until(id, ({ state }) => state === "cancelled");
};
const untilListed = (id: string) => eventually(() => market.isListed(id), Boolean);
/** What an operator does with a row that should not be there. */
const remove = (id: string) => service.database.run(`DELETE FROM open_orders WHERE ${own(id)}`);
/** Others trade. */
const expectTrading = async () => {
  const other = await maker.placed({ side: "sell", price: "101", size: "1" });
  expect(await take("101")).toMatchObject({ filled: "1.00" });
  expect(await maker.read(other.id)).toMatchObject({ state: "filled" });
};

describe("an order that has ended", () => {
  it.each([
    ["cancelled", "1"],
    ["cancelled", "(SELECT max(version) FROM events WHERE subject_id = orders.id)"],
    ["filled", "1"],
  ])("does not trade again if a writer places it again: %s, with the version %s", async (state, version) => {
    const { id } = await maker.placed({ side: "sell", price: "100", size: "1" });
    if (state === "cancelled") await cancel(id);
    else await take("100");
    await placeAgain(id, version);
    await expectTrading();
    await untilListed(id);
    expect(await take("100")).toMatchObject({ filled: "0.00" });
    expect(await maker.read(id)).toMatchObject({ state });
    await remove(id);
  });

  it("does not trade again if the row that rested is put back, with its MAC", async () => {
    const { id } = await maker.placed({ side: "sell", price: "100", size: "1" });
    const row = await rowOf(id);
    await take("100");
    await restoreRow(id, row);
    await market.reload();
    expect(await take("100")).toMatchObject({ filled: "0.00" });
    expect(await market.isListed(id)).toBe(true);
    await remove(id);
  });
});

describe("an order that rests", () => {
  it("does not trade more than its size if its earlier row is put back while it is in the book, or before the book is restored", async () => {
    const { id } = await maker.placed({ side: "sell", price: "100", size: "2" });
    const row = await rowOf(id);
    await take("100");
    const current = await rowOf(id);
    await restoreRow(id, row);
    expect(await take("100", "2")).toMatchObject({ filled: "0.00" });
    await untilListed(id);
    await market.retry(id);
    await market.reload();
    expect(await take("100", "2")).toMatchObject({ filled: "0.00" });
    await restoreRow(id, current);
    await market.reload();
    expect(await take("100", "2")).toMatchObject({ filled: "1.00" });
  });

  it.each([
    ["less of it is filled", "filled = 0"],
    ["it holds nothing", "held = 0"],
    ["it comes before others", "sequence = 1"],
  ])("is not in the book if a writer says that %s", async (_, assignment) => {
    const { id } = await maker.placed({ side: "sell", price: "100", size: "2" });
    await take("100");
    const current = await rowOf(id);
    await role.run(`UPDATE open_orders SET ${assignment} WHERE ${own(id)}`);
    await market.reload();
    expect(await take("100", "2")).toMatchObject({ filled: "0.00" });
    expect(await market.isListed(id)).toBe(true);
    await restoreRow(id, current);
    await market.reload();
    await cancel(id);
  });

  it("does not get back the size from before an amendment", async () => {
    const { id } = await maker.placed({ side: "sell", price: "100", size: "3" });
    const row = await rowOf(id);
    await maker.send("PATCH", `/v1/orders/${id}`, { size: "1" });
    await maker.until(id, ({ size }) => size === "1.00");
    const current = await rowOf(id);
    await restoreRow(id, row);
    await market.reload();
    expect(await take("100", "3")).toMatchObject({ filled: "0.00" });
    await restoreRow(id, current);
    await market.reload();
    expect(await take("100", "3")).toMatchObject({ filled: "1.00" });
  });

  it.each(["-5", "0"])("ignores an amendment to the size %s, and others trade", async (size) => {
    const { id } = await maker.placed({ side: "sell", price: "105", size: "1" });
    await role.run(`UPDATE open_orders SET amend_size = ${size} WHERE ${own(id)}`);
    await expectTrading();
    await untilListed(id);
    await service.database.run(`UPDATE open_orders SET amend_size = NULL WHERE ${own(id)}`);
    await market.retry(id);
    await market.reload();
    await cancel(id);
  });

  it("that is deleted does not hold up others", async () => {
    const { id } = await maker.placed({ side: "sell", price: "100", size: "1" });
    const row = await rowOf(id);
    await role.run(`DELETE FROM open_orders WHERE ${own(id)}`);
    expect(await take("100")).toMatchObject({ filled: "0.00" });
    await expectTrading();
    await restoreRow(id, row);
    await market.reload();
    await cancel(id);
  });

  it("with an event that the service has not written does not hold up others", async () => {
    const { id } = await maker.placed({ side: "sell", price: "100", size: "1" });
    await role.run(`INSERT INTO events (tenant_id, sequence, event, subject_id, version, state, previous_state, occurred_at)
      SELECT tenant_id, 0, 'order.updated', id, 3, 'open', 'open', now() FROM open_orders WHERE ${own(id)}`);
    expect(await take("100")).toMatchObject({ filled: "0.00" });
    await untilListed(id);
    await expectTrading();
    await service.database.run(`DELETE FROM events WHERE sequence = 0 AND event = 'order.updated'`);
    await market.retry(id);
    await market.reload();
    await cancel(id);
  });

  it("of a tenant whose counter of events was set back does not hold up others", async () => {
    const broken = await createTrader(service, { ETH: "10" });
    const { id } = await broken.placed({ side: "sell", price: "100", size: "1" });
    const tenant = `tenant_id = '${readId("tnt", broken.owner.tenantId)}'`;
    const counter = await ask(`SELECT sequence FROM event_sequences WHERE ${tenant}`);
    await role.run(`UPDATE event_sequences SET sequence = 0 WHERE ${tenant}`);
    expect(await take("100")).toMatchObject({ filled: "0.00" });
    await untilListed(id);
    await expectTrading();
    await role.run(`UPDATE event_sequences SET sequence = ${counter} WHERE ${tenant}`);
    await market.retry(id);
    await market.reload();
    await cancel(id, broken);
  });
});

describe("a command that waits", () => {
  it("cannot be changed or removed by the role of the service", async () => {
    for (const change of ["UPDATE market_commands SET size = 1", "DELETE FROM market_commands"])
      await expect(role.run(change)).rejects.toThrow("permission denied");
  });

  it("does nothing if a writer has invented it, and its order is set aside", async () => {
    await market.pause();
    const { body } = await maker.place({ side: "sell", price: "100", size: "1" });
    const row = await rowOf(body.id);
    await role.run(`
      UPDATE markets SET admitted_sequence = admitted_sequence + 1 WHERE market = 'ETH-USD';
      UPDATE open_orders SET sequence = (SELECT admitted_sequence FROM markets WHERE market = 'ETH-USD') WHERE ${own(body.id)};
      INSERT INTO market_commands (market, sequence, tenant_id, order_id, kind)
      SELECT market, sequence, tenant_id, id, 'place' FROM open_orders WHERE ${own(body.id)}`);
    await market.resume();
    await expectTrading();
    expect(await take("100")).toMatchObject({ filled: "0.00" });
    expect(await market.isListed(body.id)).toBe(true);
    expect(await maker.read(body.id)).toMatchObject({ state: "pending" });
    await restoreRow(body.id, row);
    await maker.until(body.id, ({ state }) => state === "open");
    await cancel(body.id);
  });

  it("beyond the position of the market does not hold up others", async () => {
    const { id } = await maker.placed({ side: "sell", price: "105", size: "1" });
    await role.run(`INSERT INTO market_commands (market, sequence, tenant_id, order_id, kind, size)
      SELECT m.market, m.admitted_sequence + 1, p.tenant_id, p.id, 'amend', 0 FROM markets m, open_orders p
      WHERE m.market = 'ETH-USD' AND p.${own(id)}`);
    const { body } = await maker.place({ side: "sell", price: "104", size: "1" });
    await maker.until(body.id, ({ state }) => state === "open");
    await cancel(body.id);
    // What its client wanted is not known.
    await maker.until(id, ({ state }) => state === "cancelled");
  });

  it("is not executed twice if the market is set back", async () => {
    const { id } = await maker.placed({ side: "sell", price: "105", size: "2" });
    await take("105");
    await market.pause();
    await role.run(`UPDATE markets SET applied_sequence = applied_sequence - 2 WHERE market = 'ETH-USD'`);
    await market.resume();
    await expectTrading();
    expect(await maker.read(id)).toMatchObject({ filled: "1.00" });
    expect(await take("105", "2")).toMatchObject({ filled: "1.00" });
  });

  it("does nothing if the row of its order was deleted, and others trade", async () => {
    const { id } = await maker.placed({ side: "sell", price: "100", size: "1" });
    const row = await rowOf(id);
    await market.pause();
    await role.run(`DELETE FROM open_orders WHERE ${own(id)};
      UPDATE markets SET applied_sequence = applied_sequence - 1 WHERE market = 'ETH-USD'`);
    await market.resume();
    await expectTrading();
    await restoreRow(id, row);
    await market.reload();
    await cancel(id);
  });
});

describe("a market with a fault that is of no order", () => {
  it("halts, is shown as halted, and goes on when an operator resumes it; other markets go on", async () => {
    await expectTrading();
    const { id } = await maker.placed({ side: "sell", price: "100", size: "1" });
    const trades = await ask("SELECT trade_sequence FROM markets WHERE market = 'ETH-USD'");
    await role.run("UPDATE markets SET trade_sequence = 0 WHERE market = 'ETH-USD'");
    const { body } = await taker.place({ side: "buy", price: "100", size: "1" });
    const haltedMarkets = async () => {
      const ready = (await (await fetch(`${service.url}/readyz`)).json()) as {
        checks: { halted_markets?: string[] };
      };
      return ready.checks.halted_markets ?? [];
    };
    await eventually(haltedMarkets, (names) => names.includes("ETH-USD"));
    const stateOf = async (name: string) => {
      const answer = await maker.send("GET", "/v1/markets");
      const { data } = answer.body as unknown as { data: { market: string; state: string }[] };
      return data.find((one) => one.market === name)?.state;
    };
    await eventually(
      () => stateOf("ETH-USD"),
      (state) => state === "halted",
    );
    expect(await stateOf("USDC-USD")).toBe("trading");
    expect(await maker.read(id)).toMatchObject({ state: "open", filled: "0.00" });
    const elsewhere = await taker.placed({ market: "USDC-USD", side: "buy", price: "1", size: "100" });
    expect(elsewhere.state).not.toBe("pending");

    await role.run(`UPDATE markets SET trade_sequence = ${trades} WHERE market = 'ETH-USD'`);
    const entry = describeAct(
      { by: "operator", tenantId: nilTenantId },
      "market.resume",
      "ETH-USD",
      new Date(),
    );
    expect(await resumeMarket(service.keyed, "ETH-USD", entry)).toBe("resumed");
    expect(await resumeMarket(service.keyed, "ETH-USD", entry)).toBe("unchanged");
    await taker.until(body.id, ({ state }) => state === "filled");
    const acts = await service.database.query<{ action: string }>(
      sql`SELECT action FROM audit_entries WHERE tenant_id = ${nilTenantId} AND object = 'ETH-USD' ORDER BY number`,
    );
    expect(acts.map(({ action }) => action)).toEqual(["market.halt", "market.resume"]);
  });
});
