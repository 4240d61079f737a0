import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

describe("a writer to the database, when approvals are counted", () => {
  let tenant: GuardedTenant;
  let payer: Person;
  beforeEach(async () => {
    tenant = await createGuardedTenant(service, 2);
    payer = await tenant.hire(["transactions:write", "transactions:read"]);
  });
  const setInDatabase = ({ clientId }: Person, change: string) =>
    service.database.run(`UPDATE clients SET ${change} WHERE id = '${readId("cli", clientId)}'`);
  const unlinked = "controllers = '{}', authority_changed_by = NULL, created_by = NULL";
  /** The payment is counted again because of a further approval that cannot change the number. */
  const waitsStill = async (payment: Awaited<ReturnType<GuardedTenant["pay"]>>, by: Person) => {
    expect(await tenant.approve(by, payment)).toMatchObject({ status: 202 });
    await tenant.tallied(payment);
    expect(await tenant.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
  };

  it("cannot make two clients of one lineage count twice by cutting one off", async () => {
    const [one, other] = [await tenant.create(tenant.admin), await tenant.create(tenant.admin)];
    const payment = await tenant.pay(payer);
    for (const by of [tenant.admin, one])
      expect(await tenant.approve(by, payment)).toMatchObject({ status: 202 });
    await tenant.tallied(payment);
    await setInDatabase(one, unlinked);
    await waitsStill(payment, other);
  });

  it("cannot cut off the client in between", async () => {
    const manager = await tenant.create(tenant.admin, [
      "clients:manage",
      "transactions:approve",
      "transactions:read",
    ]);
    const [one, other] = [await tenant.create(manager), await tenant.create(tenant.admin)];
    const payment = await tenant.pay(payer);
    for (const by of [tenant.admin, one])
      expect(await tenant.approve(by, payment)).toMatchObject({ status: 202 });
    await tenant.tallied(payment);
    await setInDatabase(manager, unlinked);
    await waitsStill(payment, other);
  });

  it("cannot count an approver whom the operator has disabled", async () => {
    const [officer, second] = [await tenant.hire(), await tenant.hire()];
    const made = await tenant.create(tenant.admin);
    const payment = await tenant.pay(payer);
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await tenant.tallied(payment);
    await service.changeAsOperator(officer, { state: "disabled" });
    await setInDatabase(
      officer,
      "state = 'active', authority_changed_at = created_at, disabled_at = NULL, updated_at = created_at",
    );
    expect(await tenant.approve(made, payment)).toMatchObject({ status: 202 });
    await waitsStill(payment, tenant.admin);
    expect(await tenant.approve(second, payment)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
  });

  it("cannot approve a change request with a client that it has cut off", async () => {
    const officer = await tenant.hire();
    const made = await tenant.create(tenant.admin, ["clients:manage", "transactions:approve"]);
    const { body } = await tenant.call(tenant.admin, "POST", "/v1/change-requests", {
      kind: "client.change",
      change: { client_id: officer.clientId, state: "disabled" },
    });
    const { id, digest } = body as unknown as { id: string; digest: string };
    // The token is still accepted for as long as the client is cached.
    expect((await tenant.call(made, "GET", `/v1/change-requests/${id}`)).status).toBe(200);
    await setInDatabase(made, unlinked);
    const decided = await tenant.call(made, "POST", `/v1/change-requests/${id}/approve`, { digest });
    expect([401, 403]).toContain(decided.status);
    expect((await tenant.call(tenant.admin, "GET", `/v1/change-requests/${id}`)).body).toMatchObject({
      state: "pending",
    });
  });
});
