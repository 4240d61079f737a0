import type { PolicyDocument } from "@bursar/domain";
import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { auditLedger } from "../../../src/store/ledger/audit-ledger.js";
import { sealOpenTransactions } from "../../harness/database/seal-rows.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { createPolicyTenant, type PolicyTenant } from "../../harness/transactions/policy-client.js";

const service = await inspectSharedService();

describe("a transaction that needs approval", () => {
  let tenant: PolicyTenant;

  afterAll(async () => {
    for (const { what, violations } of await auditLedger(service.database))
      expect(violations, what).toEqual([]);
  });
  beforeEach(async () => {
    tenant = await createPolicyTenant(service);
  });

  const largeNeed = (approvals: number, more: object = {}): PolicyDocument => ({
    rules: [
      {
        name: "large",
        when: { amount: { asset: "USD", min: "1000" } },
        action: "require_approval",
        approvals,
        ...more,
      },
      // Never reached, but counted.
      {
        name: "limit",
        when: { sum: { asset: "USD", per: "wallet", period_seconds: 86_400, above: "1000000" } },
        action: "reject",
        reason: "Too much.",
      },
      {
        name: "count",
        when: { count: { per: "tenant", period_seconds: 86_400, above: 1000 } },
        action: "reject",
        reason: "Too many.",
      },
    ],
    default: { action: "allow" },
  });
  const ask = async (amount = "5000", more: object = {}) => {
    const { id } = (await (await tenant.create(amount, undefined, more)).json()) as Transaction;
    return await tenant.settled(id, "awaiting_approval");
  };

  it("waits for two approvers with its funds held, and is completed when both have approved", async () => {
    await tenant.usePolicy(largeNeed(2));
    const [anna, ben] = [await tenant.addClient("anna"), await tenant.addClient("ben")];
    const waiting = await ask();
    expect(waiting.approval).toMatchObject({
      state: "pending",
      rule: "large",
      required: 2,
      approved: 0,
      decisions: [],
    });
    expect(await tenant.balances()).toMatchObject({ available: "95000", held: "5000" });
    const digest = waiting.approval?.digest ?? "";
    const first = await tenant.say(anna, waiting.id, digest);
    expect(first.status).toBe(202);
    expect(await first.json()).toMatchObject({
      state: "awaiting_approval",
      version: 3,
      approval: { approved: 1 },
    });
    // A second approval of the same client changes nothing.
    expect(await (await tenant.say(anna, waiting.id, digest)).json()).toMatchObject({ version: 3 });
    expect((await tenant.say(ben, waiting.id, digest)).status).toBe(202);
    const done = await tenant.settled(waiting.id, "completed");
    expect(done.approval).toMatchObject({ state: "approved", approved: 2 });
    expect(done.history.map(({ state, approval }) => [state, approval?.client_id])).toEqual([
      ["accepted", undefined],
      ["awaiting_approval", undefined],
      ["awaiting_approval", anna.id],
      ["awaiting_approval", ben.id],
      ["completed", undefined],
    ]);
    expect(await tenant.balances()).toMatchObject({ available: "95000", held: "0" });
    expect((await tenant.say(ben, waiting.id, digest)).status).toBe(409);
    const events = (await (await service.call("GET", "/v1/events", tenant.token)).json()) as {
      data: { data: { transaction: Transaction } }[];
    };
    expect(
      events.data.map(({ data }) => [data.transaction.version, data.transaction.approval?.approved]),
    ).toEqual([
      [2, 0],
      [3, 1],
      [4, 2],
      [5, 2],
    ]);
    const audit = (await (await service.call("GET", "/v1/audit", tenant.token)).json()) as {
      data: { action: string }[];
    };
    expect(audit.data.filter(({ action }) => action === "transaction.approve")).toHaveLength(2);
  });

  it("is not approved by its creator, nor by a client that is not an approver, nor under another digest", async () => {
    const [anna, ben] = [await tenant.addClient("anna"), await tenant.addClient("ben")];
    await tenant.usePolicy(largeNeed(1, { from: { clients: [anna.id] } }));
    const waiting = await ask();
    const digest = waiting.approval?.digest ?? "";
    const own = await tenant.say({ token: tenant.token }, waiting.id, digest);
    expect([own.status, ((await own.json()) as { error: { code: string } }).error.code]).toEqual([
      403,
      "POLICY_REJECTED",
    ]);
    expect((await tenant.say(ben, waiting.id, digest)).status).toBe(403);
    const stale = await tenant.say(
      anna,
      waiting.id,
      digest.replace(/./, (first) => (first === "0" ? "1" : "0")),
    );
    expect([stale.status, ((await stale.json()) as { error: { code: string } }).error.code]).toEqual([
      409,
      "APPROVAL_STALE",
    ]);
    const recorded = async () => {
      const audit = await (await service.call("GET", "/v1/audit", tenant.token)).json();
      return (audit as { data: { code: string | null; object: string | null }[] }).data;
    };
    await eventually(recorded, (found) =>
      found.some(({ code, object }) => code === "APPROVAL_STALE" && object === waiting.id),
    );
    expect(await tenant.read(waiting.id)).toMatchObject({ state: "awaiting_approval", version: 2 });
    const { id } = (await (await tenant.create("1")).json()) as Transaction;
    await tenant.settled(id, "completed");
    expect((await tenant.say(anna, id, digest)).status).toBe(409);
  });

  it("ends with one rejection, which releases its funds and its usage", async () => {
    await tenant.usePolicy(largeNeed(2));
    const [anna, ben] = [await tenant.addClient("anna"), await tenant.addClient("ben")];
    const waiting = await ask();
    const digest = waiting.approval?.digest ?? "";
    await tenant.say(anna, waiting.id, digest);
    await tenant.say(ben, waiting.id, digest, "reject");
    const done = await tenant.settled(waiting.id, "rejected");
    expect(done).toMatchObject({ failure: { code: "APPROVAL_REJECTED" }, approval: { state: "rejected" } });
    expect(await tenant.balances()).toMatchObject({ available: "100000", held: "0" });
    const totals = await service.database.query<{ sum: string; count: string }>(sql`
      SELECT DISTINCT sum, count FROM usage_buckets
      WHERE window_id IN (SELECT id FROM usage_windows WHERE tenant_id = ${tenant.tenantId})
    `);
    expect(totals).toEqual([{ sum: "0", count: "0" }]);
  });

  it("does not count the approval of a client that has been disabled since", async () => {
    await tenant.usePolicy(largeNeed(2));
    const [anna, ben, cora] = [
      await tenant.addClient("anna"),
      await tenant.addClient("ben"),
      await tenant.addClient("cora"),
    ];
    const waiting = await ask();
    const digest = waiting.approval?.digest ?? "";
    await tenant.say(anna, waiting.id, digest);
    await tenant.changeAsOperator(anna, { state: "disabled" });
    await tenant.say(ben, waiting.id, digest);
    await eventually(
      () =>
        service.database.query<{ due: boolean }>(sql`
        SELECT due_at > now() AS due FROM open_transactions WHERE tenant_id = ${tenant.tenantId}`),
      ([row]) => row?.due === true,
    );
    expect(await tenant.read(waiting.id)).toMatchObject({ state: "awaiting_approval", version: 4 });
    await tenant.say(cora, waiting.id, digest);
    await tenant.settled(waiting.id, "completed");
  });

  it("without approval in time is rejected; one that expires itself fails", async () => {
    await tenant.usePolicy(largeNeed(1, { expires_after_seconds: 60 }));
    const [slow, own] = [
      await ask(),
      await ask("2000", { expires_at: new Date(Date.now() + 3000).toISOString() }),
    ];
    await service.database.query(sql`
      UPDATE judgements SET judged_at = judged_at - interval '1 hour' WHERE transaction_id = ${readId("tx", slow.id)}`);
    await sealOpenTransactions(service.database, service.keys, sql`o.id = ${readId("tx", slow.id)}`);
    await service.database.query(sql`
      UPDATE open_transactions SET due_at = now() WHERE id = ${readId("tx", slow.id)}`);
    expect(await tenant.settled(slow.id, "rejected")).toMatchObject({
      failure: { code: "APPROVAL_EXPIRED" },
      approval: { state: "expired" },
    });
    expect(await tenant.settled(own.id, "failed")).toMatchObject({ failure: { code: "EXPIRED" } });
    expect(await tenant.balances()).toMatchObject({ available: "100000", held: "0" });
  });

  it("shows only its id and state to a client that cancels it and may not read transactions", async () => {
    await tenant.usePolicy(largeNeed(1));
    const waiting = await ask();
    const body = { name: "canceller", scopes: ["transactions:write"] };
    const made = await service.call("POST", "/v1/clients", tenant.token, body);
    const { id, secret } = (await made.json()) as { id: string; secret: string };
    const token = await service.token({ clientId: id, secret });
    const cancelled = await service.call("POST", `/v1/transactions/${waiting.id}/cancel`, token);
    expect([cancelled.status, await cancelled.json()]).toEqual([
      202,
      { id: waiting.id, object: "transaction", state: "cancelled" },
    ]);
  });

  const usage = () =>
    service.database.query<{ asset: string; sum: string; count: string }>(sql`
      SELECT w.asset, sum(b.sum) AS sum, sum(b.count) AS count FROM usage_windows w JOIN usage_buckets b ON b.window_id = w.id
      WHERE w.tenant_id = ${tenant.tenantId} GROUP BY w.asset ORDER BY w.asset
    `);

  it("releases what it counted if it is cancelled while the engine judges it", async () => {
    await tenant.usePolicy(largeNeed(1));
    const before = await ask();
    await service.call("POST", `/v1/transactions/${before.id}/cancel`, tenant.token, {});
    const waitingFor = (count: number) =>
      eventually(
        () =>
          service.database.query(sql`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'
          AND datname = current_database()`),
        (rows) => rows.length >= count,
      );
    let cancelled: Promise<Response> | undefined;
    // The engine has locked the row and waits for the tenant's log; the cancellation waits for the engine.
    await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM event_sequences WHERE tenant_id = ${tenant.tenantId} FOR UPDATE`);
      const { id } = (await (await tenant.create("2000")).json()) as { id: string };
      await waitingFor(1);
      cancelled = service.call("POST", `/v1/transactions/${id}/cancel`, tenant.token, {});
      await waitingFor(2);
    });
    expect((await cancelled)?.status).toBe(202);
    expect(await tenant.balances()).toMatchObject({ held: "0" });
    expect(await usage()).toEqual([
      { asset: "", sum: "0", count: "0" },
      { asset: "USD", sum: "0", count: "0" },
    ]);
  });

  it("leaves no usage if it is one of many that end together", async () => {
    await tenant.usePolicy(largeNeed(1));
    const kept = await ask();
    for (let done = 0; done < 45; done += 3)
      await Promise.all(Array.from({ length: 3 }, async () => (await tenant.create("2000")).text()));
    await eventually(
      () =>
        service.database.query(sql`SELECT FROM open_transactions
        WHERE tenant_id = ${tenant.tenantId} AND state = 'awaiting_approval'`),
      (rows) => rows.length === 46,
    );
    const ended = sql`tenant_id = ${tenant.tenantId} AND id <> ${readId("tx", kept.id)}`;
    await service.database.query(sql`
      UPDATE transactions SET expires_at = now() WHERE ${ended} AND id IN (SELECT id FROM open_transactions)`);
    await sealOpenTransactions(service.database, service.keys, sql`o.tenant_id = ${tenant.tenantId}`);
    await service.database.query(sql`UPDATE open_transactions SET due_at = now() WHERE ${ended}`);
    await eventually(
      () => service.database.query(sql`SELECT FROM open_transactions WHERE tenant_id = ${tenant.tenantId}`),
      (rows) => rows.length === 1,
    );
    expect(await usage()).toEqual([
      { asset: "", sum: "0", count: "1" },
      { asset: "USD", sum: "500000", count: "1" },
    ]);
  });

  it("can be cancelled while it waits, and then holds nothing", async () => {
    await tenant.usePolicy(largeNeed(1));
    const waiting = await ask();
    const cancelled = await service.call("POST", `/v1/transactions/${waiting.id}/cancel`, tenant.token);
    expect(cancelled.status).toBe(202);
    expect(await cancelled.json()).toMatchObject({
      state: "cancelled",
      version: 3,
      approval: { state: "closed" },
    });
    expect(await tenant.balances()).toMatchObject({ available: "100000", held: "0" });
  });

  it("fails immediately if there are insufficient funds to hold", async () => {
    await tenant.usePolicy(largeNeed(1));
    const { id } = (await (await tenant.create("100001")).json()) as Transaction;
    expect(await tenant.settled(id, "failed")).toMatchObject({ failure: { code: "INSUFFICIENT_FUNDS" } });
  });
});
