import { type ApprovalTally, readId, type Transaction } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

async function readTally(tenant: GuardedTenant, { id }: Transaction, who: Person = tenant.admin) {
  const answer = await tenant.call(who, "GET", `/v1/transactions/${id}/approvals/tally`);
  return { ...answer, tally: answer.body as unknown as ApprovalTally };
}

const reasonsOf = ({ decisions }: ApprovalTally) =>
  Object.fromEntries(decisions.map(({ client_id, reason }) => [client_id, reason]));

describe("the tally of a payment", () => {
  it("does not count the approval of a client that was disabled after it, and says so", async () => {
    const tenant = await createGuardedTenant(service, 2);
    const [ada, ben] = [await tenant.hire(), await tenant.hire()];
    const payment = await tenant.pay(tenant.admin);
    await tenant.approve(ada, payment);
    expect((await readTally(tenant, payment)).tally).toMatchObject({
      state: "pending",
      required: 2,
      counted: 1,
      held: false,
      decisions: [{ client_id: ada.clientId, decision: "approve", counts: true, reason: null }],
    });
    await service.changeAsOperator(ada, { state: "disabled" });
    await tenant.approve(ben, payment);
    await tenant.tallied(payment);
    // What is recorded, by which the transaction has its version.
    expect(await tenant.read(payment.id)).toMatchObject({
      state: "awaiting_approval",
      approval: { approved: 2 },
    });
    const { status, tally } = await readTally(tenant, payment);
    expect([status, tally.counted]).toEqual([200, 1]);
    expect(reasonsOf(tally)).toEqual({ [ada.clientId]: "client_disabled", [ben.clientId]: null });
    await service.changeAsOperator(ada, { state: "active" });
    expect(reasonsOf((await readTally(tenant, payment)).tally)[ada.clientId]).toBe("changed_since");
  });

  it("says who has lost the scope, and who depends on the initiator or on another approver", async () => {
    const tenant = await createGuardedTenant(service, 3);
    const [ada, manager] = [
      await tenant.hire(),
      await tenant.hire(["clients:manage", "transactions:approve", "transactions:read"]),
    ];
    const [one, other] = [await tenant.create(manager), await tenant.create(manager)];
    const payment = await tenant.pay(tenant.admin);
    for (const officer of [ada, one, other])
      expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await service.changeAsOperator(ada, { scopes: ["transactions:read"] });
    await tenant.tallied(payment);
    const { tally } = await readTally(tenant, payment);
    expect(tally).toMatchObject({ state: "pending", required: 3, counted: 1 });
    expect(reasonsOf(tally)).toEqual({
      [ada.clientId]: "scope_missing",
      [one.clientId]: null,
      [other.clientId]: "counted_with_another",
    });
  });

  it("counts by the policy in force, which can require more than the payment was found to", async () => {
    const tenant = await createGuardedTenant(service, 2);
    const ada = await tenant.hire();
    const payment = await tenant.pay(tenant.admin);
    await tenant.approve(ada, payment);
    const others = [await tenant.hire(), await tenant.hire(), await tenant.hire()];
    const clients = others.map(({ clientId }) => clientId);
    const stricter = { action: "require_approval", approvals: 3, from: { clients } };
    const document = { rules: [], default: stricter };
    const { token } = tenant.admin;
    const tag = (await service.call("GET", "/v1/policy", token)).headers.get("etag") ?? "";
    const replaced = await service.call("PUT", "/v1/policy", token, document, { "if-match": tag });
    expect(replaced.status).toBe(200);
    const { tally } = await readTally(tenant, payment);
    expect(tally).toMatchObject({ state: "pending", required: 3, counted: 0 });
    expect(reasonsOf(tally)).toEqual({ [ada.clientId]: "not_an_approver" });
  });

  it("says that the payment is held while the client that requested it is disabled", async () => {
    const tenant = await createGuardedTenant(service, 1);
    const officer = await tenant.hire();
    const payer = await tenant.hire(["transactions:write"]);
    const payment = await tenant.pay(payer);
    await service.changeAsOperator(payer, { state: "disabled" });
    await tenant.approve(officer, payment);
    expect((await readTally(tenant, payment)).tally).toMatchObject({
      state: "approved",
      counted: 1,
      held: true,
    });
  });

  it("is refused for what does not wait, of other tenants, without the scope, and if it was tampered with", async () => {
    const tenant = await createGuardedTenant(service);
    const officer = await tenant.hire();
    const payment = await tenant.pay(tenant.admin);
    const stranger = await createGuardedTenant(service);
    expect(await readTally(tenant, payment, stranger.admin)).toMatchObject({
      status: 404,
      code: "TRANSACTION_NOT_FOUND",
    });
    const blind = await tenant.hire(["transactions:approve"]);
    expect(await readTally(tenant, payment, blind)).toMatchObject({
      status: 403,
      code: "INSUFFICIENT_SCOPE",
    });
    await tenant.approve(officer, payment);
    await tenant.completes(payment);
    expect(await readTally(tenant, payment)).toMatchObject({ status: 409, code: "NOT_AWAITING_APPROVAL" });
    const changed = await tenant.pay(tenant.admin);
    await service.database.query(sql`
      UPDATE transactions SET amount = amount + 1
      WHERE tenant_id = ${readId("tnt", tenant.owner.tenantId)} AND id = ${readId("tx", changed.id)}`);
    expect(await readTally(tenant, changed)).toMatchObject({ code: "TRANSACTION_TAMPERED" });
  });
});
