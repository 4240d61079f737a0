import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../../harness/eventually.js";
import { createTrader } from "../../harness/markets/trader.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

describe("an order of a disabled client", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService();
  });
  afterAll(() => service.stop());

  it("is not filled any more, and the event names who disabled the client", async () => {
    const maker = await createTrader(service, { ETH: "10" });
    const taker = await createTrader(service, { USD: "100000" });
    const scopes = ["orders:write", "orders:read"];
    const created = (await maker.send("POST", "/v1/clients", { name: "trading", scopes }))
      .body as unknown as {
      id: string;
      secret: string;
    };
    const token = await service.token({ clientId: created.id, secret: created.secret });
    const placed = await service.call(
      "POST",
      "/v1/orders",
      token,
      { market: "ETH-USD", side: "sell", price: "100", size: "1" },
      { "idempotency-key": "resting" },
    );
    const { id } = (await placed.json()) as { id: string };
    await maker.until(id, ({ state }) => state === "open");
    const byClient = await maker.send("GET", `/v1/orders?client_id=${created.id}&state=open`);
    expect((byClient.body as unknown as { data: object[] }).data).toHaveLength(1);
    expect((await maker.send("PATCH", `/v1/clients/${created.id}`, { state: "disabled" })).status).toBe(200);
    const take = { side: "buy", price: "100", size: "1", time_in_force: "ioc" };
    const taken = await taker.placed(take);
    expect(taken).toMatchObject({ filled: "0.00" });
    expect(await maker.read(id)).toMatchObject({
      state: "cancelled",
      filled: "0.00",
      created_by: created.id,
    });
    const { data } = (await maker.send("GET", "/v1/events?limit=200")).body as unknown as {
      data: { data: { order?: { id: string; state: string } }; actor: object }[];
    };
    const cancelled = data.find(({ data: { order } }) => order?.id === id && order.state === "cancelled");
    expect(cancelled?.actor).toEqual({ type: "client", client_id: maker.owner.clientId });
  });

  it("is cancelled when its tenant is suspended, whose tokens are refused within seconds and valid again later", async () => {
    const maker = await createTrader(service, { ETH: "10" });
    const { id } = await maker.placed({ side: "sell", price: "100", size: "1" });
    await service.setTenantSuspended(maker.owner, true);
    const refused = await eventually(
      () => maker.send("GET", `/v1/orders/${id}`),
      ({ status }) => status !== 200,
    );
    expect([refused.status, refused.body.error?.code]).toEqual([403, "TENANT_SUSPENDED"]);
    await expect(service.token(maker.owner)).rejects.toThrow();
    await service.setTenantSuspended(maker.owner, false);
    const again = await eventually(
      () => maker.send("GET", `/v1/orders/${id}`),
      ({ status }) => status === 200,
    );
    expect(again.body).toMatchObject({ state: "cancelled", filled: "0.00" });
    const { data } = (await maker.send("GET", "/v1/audit?limit=200")).body as unknown as {
      data: { action: string; actor: string }[];
    };
    const acts = data.filter(({ action }) => action.startsWith("tenant."));
    expect(acts.map(({ action, actor }) => [action, actor])).toEqual([
      ["tenant.resume", "operator"],
      ["tenant.suspend", "operator"],
      ["tenant.create", "operator"],
    ]);
  });

  it("is placed, amended and cancelled with an audit entry for each", async () => {
    const trader = await createTrader(service, { ETH: "10" });
    const { id } = await trader.placed({ side: "sell", price: "200", size: "1" });
    expect((await trader.send("PATCH", `/v1/orders/${id}`, { size: "0.5" })).status).toBe(202);
    await trader.until(id, ({ size }) => size === "0.50");
    expect((await trader.send("DELETE", `/v1/orders/${id}`)).status).toBe(202);
    const entries = await eventually(
      async () => {
        const { data } = (await trader.send("GET", "/v1/audit?limit=200")).body as unknown as {
          data: { action: string; objects: string[]; client_id: string; address: string }[];
        };
        return data.filter(({ objects }) => objects.includes(id));
      },
      (found) => found.length === 3,
    );
    expect(new Set(entries.map(({ action }) => action))).toEqual(
      new Set(["order.place", "order.amend", "order.cancel"]),
    );
    for (const entry of entries)
      expect(entry).toMatchObject({ client_id: trader.owner.clientId, address: "127.0.0.1" });
    const { data } = (await trader.send("GET", "/v1/events?limit=200")).body as unknown as {
      data: { event: string; actor: { type: string } }[];
    };
    const actors = data.filter(({ event }) => event === "order.updated").map(({ actor }) => actor.type);
    expect(actors).toEqual(["service", "client", "client"]);
  });
});
