import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createTrader } from "../../harness/markets/trader.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";
import { createPolicyTenant, type PolicyTenant } from "../../harness/transactions/policy-client.js";
import { transactionsOf } from "../../harness/transactions/transactions-client.js";
import { startClockedParts } from "../../harness/webhooks/clocked-parts.js";

describe("what a disabled client has requested", () => {
  let world: Awaited<ReturnType<typeof startClockedParts>>;
  let tenant: Awaited<ReturnType<typeof world.createTenant>>;
  beforeAll(async () => {
    world = await startClockedParts();
  });
  afterAll(() => world.stop());
  beforeEach(async () => {
    tenant = await world.createTenant();
  });

  const disable = (more = {}) =>
    world.parts.useCases.changeClient(tenant.origin, tenant.clientId, { state: "disabled", ...more });
  const states = async (tenantId: string) => {
    const rows = await world.database.query<{ state: string; count: number }>(sql`
      SELECT coalesce((SELECT e.state FROM events e WHERE e.tenant_id = t.tenant_id AND e.subject_id = t.id
        ORDER BY e.version DESC LIMIT 1), 'accepted') AS state, count(*)::integer AS count
      FROM transactions t WHERE t.tenant_id = ${tenantId} AND t.kind = 'transfer' GROUP BY 1
    `);
    return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
  };
  const setAside = async (tenantId: string) => {
    const rows = await world.database.query(sql`
      SELECT FROM open_transactions WHERE tenant_id = ${tenantId} AND retry_at IS NOT NULL AND last_error IS NULL
    `);
    return rows.length;
  };
  const transact = (count: number) => Promise.all(Array.from({ length: count }, () => tenant.transact()));

  it("is set aside, more of it than a batch does not delay others, and it goes on when the client is enabled", async () => {
    await disable();
    await transact(1200);
    const other = await world.createTenant();
    await other.transact();
    await eventually(
      () => states(other.id),
      (found) => found["completed"] === 1,
    );
    await eventually(
      () => setAside(tenant.id),
      (count) => count === 1200,
    );
    expect(await states(tenant.id)).toEqual({ accepted: 1200 });
    await world.parts.useCases.changeClient(tenant.origin, tenant.clientId, { state: "active" });
    await eventually(
      () => states(tenant.id),
      (found) => found["completed"] === 1200,
    );
    expect(await world.database.query(sql`SELECT FROM client_sweeps`)).toEqual([]);
  });

  it("is cancelled on request, with the operator as the actor", async () => {
    await disable();
    const ids = await transact(250);
    await disable({ cancel: ["transactions"] });
    await eventually(
      () => states(tenant.id),
      (found) => found["cancelled"] === 250,
    );
    const events = await world.parts.useCases.listEvents(tenant.id, 0, 200);
    expect(new Set(events.map(({ actor }) => actor.type))).toEqual(new Set(["operator"]));
    expect(ids).toHaveLength(250);
  });

  it("is cancelled after a crash, by whichever process looks next", async () => {
    await disable();
    await transact(3);
    // As if the process had stopped right after the commit that disabled the client.
    await world.database.query(sql`
      INSERT INTO client_sweeps (tenant_id, client_id, kind, requested_by, requested_at)
      VALUES (${tenant.id}, ${tenant.clientId}, 'cancel_transactions', ${tenant.clientId}, ${new Date(world.now())})
    `);
    world.parts.sweeper.start();
    await eventually(
      () => states(tenant.id),
      (found) => found["cancelled"] === 3,
    );
  });

  it("still expires", async () => {
    await disable();
    await tenant.transact({ expires_at: new Date(world.now() + 60_000).toISOString() });
    await eventually(
      () => setAside(tenant.id),
      (count) => count === 1,
    );
    world.advance(120_000);
    await eventually(
      () => states(tenant.id),
      (found) => found["failed"] === 1,
    );
  });

  it("can be cancelled only for a client that is disabled", async () => {
    const body = { cancel: ["transactions" as const] };
    const answer = await world.parts.useCases.changeClient(tenant.origin, tenant.clientId, body);
    expect(answer).toMatchObject({ refused: "INVALID_REQUEST" });
  });

  it("is not settled while its tenant is suspended, and goes on when it is resumed", async () => {
    expect(await world.parts.setTenantSuspended(tenant.id, true)).toBe("changed");
    expect(await world.parts.setTenantSuspended(tenant.id, true)).toBe("unchanged");
    await transact(20);
    await eventually(
      () => setAside(tenant.id),
      (count) => count === 20,
    );
    expect(await states(tenant.id)).toEqual({ accepted: 20 });
    await world.parts.setTenantSuspended(tenant.id, false);
    await eventually(
      () => states(tenant.id),
      (found) => found["completed"] === 20,
    );
  });
});

describe("a payment of a disabled client", () => {
  let tenant: PolicyTenant;
  let requester: { clientId: string; token: string };
  let approver: Awaited<ReturnType<PolicyTenant["addClient"]>>;
  let payment: Transaction;
  beforeEach(async () => {
    const service = await inspectSharedService();
    tenant = await createPolicyTenant(service);
    await tenant.usePolicy({
      rules: [
        {
          name: "ask",
          when: { amount: { asset: "USD", min: "1" } },
          action: "require_approval",
          approvals: 1,
        },
      ],
      default: { action: "allow" },
    });
    // Before the payment: one that is created later cannot approve it.
    approver = await tenant.addClient("approver");
    const body = { name: "requester", scopes: ["transactions:write", "transactions:read"] };
    const created = (await (await service.call("POST", "/v1/clients", tenant.token, body)).json()) as {
      id: string;
      secret: string;
    };
    requester = {
      clientId: created.id,
      token: await service.token({ clientId: created.id, secret: created.secret }),
    };
    const { create } = transactionsOf(service, requester.token);
    const { id } = (await create({ reference: "r", asset: "USD", amount: "10" })).body;
    payment = await tenant.settled(id, "awaiting_approval");
  });

  const change = async (body: object) => {
    const service = await inspectSharedService();
    return await service.call("PATCH", `/v1/clients/${requester.clientId}`, tenant.token, body);
  };
  const approve = async () => {
    expect((await tenant.say(approver, payment.id, payment.approval?.digest ?? "")).status).toBe(202);
  };
  const isSetAside = async () => {
    const { database } = await inspectSharedService();
    return await database.query(sql`
      SELECT FROM open_transactions WHERE id = ${readId("tx", payment.id)} AND retry_at = 'infinity'
    `);
  };

  it("is not settled when it is approved, but once the client is enabled again", async () => {
    expect((await change({ state: "disabled" })).status).toBe(200);
    await approve();
    await eventually(isSetAside, (found) => found.length === 1);
    expect((await tenant.read(payment.id)).state).toBe("awaiting_approval");
    expect((await change({ state: "active" })).status).toBe(200);
    await tenant.settled(payment.id, "completed");
  });

  it("can be cancelled by another client while it waits", async () => {
    await change({ state: "disabled" });
    await approve();
    await eventually(isSetAside, (found) => found.length === 1);
    const service = await inspectSharedService();
    const { send } = transactionsOf(service, tenant.token);
    expect((await send("POST", `/v1/transactions/${payment.id}/cancel`)).body.state).toBe("cancelled");
    expect(await tenant.balances()).toMatchObject({ available: "100000", held: "0" });
  });

  it("is cancelled together with the client if that is asked for", async () => {
    const answer = await change({ state: "disabled", cancel: ["orders", "transactions"] });
    expect(answer.status).toBe(200);
    const { history } = await tenant.settled(payment.id, "cancelled");
    expect(history.at(-1)?.actor).toEqual({ type: "client", client_id: tenant.owner.clientId });
  });
});

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
