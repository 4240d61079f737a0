import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AuditDraft } from "../../../../src/app/audit/audit-entry.js";
import { queueSweeps } from "../../../../src/store/access/sweeps.js";
import { sql } from "../../../../src/store/core/sql.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import { createPolicyTenant, type PolicyTenant } from "../../../harness/transactions/policy-client.js";
import { transactionsOf } from "../../../harness/transactions/transactions-client.js";
import { startClockedParts } from "../../../harness/webhooks/clocked-parts.js";

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
  const usePolicy = async (otherwise: object) => {
    const document = { rules: [], default: otherwise };
    await world.database.query(sql`
      INSERT INTO policies (tenant_id, version, document, client_id, created_at)
      VALUES (${tenant.id}, 1, ${JSON.stringify(document)}, ${tenant.clientId}, now())
    `);
    world.wakeUps.publish("policy", [tenant.id]);
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

  it("is judged by the policy in force when the client is enabled", async () => {
    await disable();
    await transact(3);
    await eventually(
      () => setAside(tenant.id),
      (count) => count === 3,
    );
    await usePolicy({ action: "reject", reason: "closed" });
    await world.parts.useCases.changeClient(tenant.origin, tenant.clientId, { state: "active" });
    await eventually(
      () => states(tenant.id),
      (found) => found["accepted"] === undefined,
    );
    expect(await states(tenant.id)).toEqual({ rejected: 3 });
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

  it("is cancelled on request, also if it was requested while the stop waited for a lock", async () => {
    await usePolicy({ action: "require_approval", approvals: 1 });
    world.advance(5);
    await transact(2);
    await eventually(
      () => states(tenant.id),
      (found) => found["awaiting_approval"] === 2,
    );
    world.advance(-5);
    await disable({ cancel: ["transactions"] });
    // Ids never go back: those of the next test would have a later time than its clock.
    world.advance(10);
    expect(await states(tenant.id)).toEqual({ cancelled: 2 });
  });

  it("is cancelled after a crash, by the next process that looks", async () => {
    await disable();
    await transact(3);
    // As if the process had stopped right after the commit that disabled the client.
    const audit = {
      actor: "client",
      clientId: tenant.clientId,
      occurredAt: new Date(world.now()),
    } as AuditDraft;
    await world.keyed.transaction(async (tx) =>
      queueSweeps(tx, { tenantId: tenant.id, clientId: tenant.clientId }, ["cancel_transactions"], audit),
    );
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

  /** Past the edge, as in a process that has not noticed the stop yet and accepts the old token. */
  it.each([
    ["the client is disabled", () => disable()],
    ["the client is disabled with what it requested", () => disable({ cancel: ["transactions"] })],
    ["the tenant is suspended", () => world.parts.setTenantSuspended(tenant.id, true)],
  ])("is cancelled if it was requested while %s, and not paid afterwards", async (_, stop) => {
    await stop();
    world.advance(1);
    await transact(3);
    await eventually(
      () => states(tenant.id),
      (found) => found["cancelled"] === 3,
    );
    world.advance(1);
    await world.parts.useCases.changeClient(tenant.origin, tenant.clientId, { state: "active" });
    await world.parts.setTenantSuspended(tenant.id, false);
    await transact(1);
    await eventually(
      () => states(tenant.id),
      (found) => found["completed"] === 1,
    );
    expect(await states(tenant.id)).toEqual({ cancelled: 3, completed: 1 });
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
