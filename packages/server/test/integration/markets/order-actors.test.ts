import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { insertStop } from "../../../src/store/access/stops/stop-records.js";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader, type Trader, tradingAs } from "../../harness/markets/trader.js";
import { startTestService, type TestClient, type TestService } from "../../harness/service/test-service.js";

interface ListedEvent {
  actor: { type: string; client_id: string | null };
  data: { order?: { id: string; version: number; size: string; state: string } };
}

describe("the event of a change to an order names the client that caused it", () => {
  let service: TestService;
  /** Places the orders. */
  let owner: Trader;
  let first: Trader;
  let second: Trader;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  const colleague = async (): Promise<Trader> => {
    const scopes = ["orders:write", "orders:read", "wallets:freeze", "wallets:read"];
    const { body } = await owner.send("POST", "/v1/clients", { name: "colleague", scopes });
    const { id, secret } = body as unknown as { id: string; secret: string };
    return tradingAs(service, { ...owner.owner, clientId: id, secret } satisfies TestClient);
  };

  /** While the market's lease is of a process that does not exist, requests wait on the orders. */
  const withoutMatching = async (act: () => Promise<void>) => {
    await service.database.query(sql`
      UPDATE markets SET holder = gen_random_uuid(), fence = fence + 1, expires_at = now() + interval '4 minutes' WHERE market = 'ETH-USD'
    `);
    await act();
    await service.database.query(sql`UPDATE markets SET expires_at = '-infinity' WHERE market = 'ETH-USD'`);
  };

  const amend = (size: string) => async (by: Trader, id: string) => {
    expect((await by.send("PATCH", `/v1/orders/${id}`, { size })).status).toBe(202);
  };
  const cancel = async (by: Trader, id: string) => {
    expect((await by.send("DELETE", `/v1/orders/${id}`)).status).toBe(202);
  };
  const isCancelRequested = (id: string) => async () => {
    const rows = await service.database.query(
      sql`SELECT FROM open_orders WHERE id = ${readId("ord", id)} AND cancel_requested`,
    );
    return rows.length > 0;
  };
  /** Is answered when the books are rid of the orders, so it is not waited for. */
  const freezing: Promise<unknown>[] = [];
  const freeze = async (by: Trader, id: string) => {
    const { wallet_id: wallet } = await owner.read(id);
    freezing.push(by.send("POST", `/v1/wallets/${wallet}/freeze`, {}));
    await eventually(isCancelRequested(id), (isRequested) => isRequested);
  };
  /** As when the database could not be written otherwise. */
  const recordStopAlone = async (_: Trader, id: string) => {
    const { wallet_id: wallet } = await owner.read(id);
    const tenantId = readId("tnt", owner.owner.tenantId) ?? "";
    await service.database.query(insertStop({ tenantId, subjectId: readId("wlt", wallet) ?? "" }));
    await eventually(isCancelRequested(id), (isRequested) => isRequested);
  };

  const amended = (size: string) => ({ state: "open", size: `${size}.00` });
  const cancelled = { state: "cancelled" };
  it.each([
    ["an amendment and a greater one", amend("3"), amend("5"), amended("3"), "first"],
    ["an amendment and the same", amend("3"), amend("3"), amended("3"), "first"],
    ["an amendment and a smaller one", amend("5"), amend("3"), amended("3"), "second"],
    ["an amendment and a cancellation", amend("3"), cancel, cancelled, "second"],
    ["an amendment and a freeze", amend("3"), freeze, cancelled, "second"],
    ["an amendment and a stop without a name", amend("3"), recordStopAlone, cancelled, "service"],
    ["a cancellation and an amendment", cancel, amend("3"), cancelled, "first"],
    ["a cancellation and another", cancel, cancel, cancelled, "first"],
    ["a cancellation and a freeze", cancel, freeze, cancelled, "first"],
    ["a freeze and a cancellation", freeze, cancel, cancelled, "first"],
    ["a freeze and an amendment", freeze, amend("3"), cancelled, "first"],
  ] as const)("for %s", async (_, request, next, becomes, who) => {
    owner = await createTrader(service, { ETH: "10" });
    [first, second] = [await colleague(), await colleague()];
    const { id } = await owner.placed({ side: "sell", price: "100", size: "10" });
    await withoutMatching(async () => {
      await request(first, id);
      await next(second, id);
    });
    await owner.until(id, ({ version }) => version > 2);
    const { data } = (await owner.send("GET", "/v1/events?limit=200")).body as unknown as {
      data: ListedEvent[];
    };
    const changes = data.filter(({ data: { order } }) => order?.id === id && order.version > 2);
    const names = { first: first.owner.clientId, second: second.owner.clientId, service: null };
    expect(changes).toMatchObject([{ data: { order: becomes } }]);
    expect(changes[0]?.actor.client_id).toBe(names[who]);
    await Promise.all(freezing.splice(0));
  });
});
