import { type ApprovalTally, type ChangeRequest, readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../../harness/access/officers.js";
import { dependent, newPublicKey } from "../../../harness/access/own-payment.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

it("a client that has a key of the one that requests approves neither its payment nor its change", async () => {
  const { admin, hire, pay, approve, call, create } = await createGuardedTenant(service);
  const officer = await hire(["transactions:approve", "transactions:read", "clients:manage"]);
  const other = await hire();
  const target = await create(admin);
  const key = newPublicKey();
  for (const who of [admin, officer]) await service.addKeyAsOperator(who, key);
  const payment = await pay(admin);
  const asked = await call(admin, "POST", "/v1/change-requests", {
    ...{ kind: "client.change", change: { client_id: target.clientId, state: "disabled" } },
  });
  const { id, digest } = asked.body as unknown as ChangeRequest;
  const answers = [
    await approve(officer, payment),
    await call(officer, "POST", `/v1/change-requests/${id}/approve`, { digest }),
  ];
  expect(answers).toMatchObject([dependent, dependent]);
  expect(JSON.stringify(answers)).toContain("have a public key in common");
  expect((await approve(other, payment)).status).toBe(202);
});

describe("a key that the requester and the approver have", () => {
  const key = newPublicKey();
  let tenant: GuardedTenant;
  let payer: Person;
  let officer: Person;
  let keyId: string;
  beforeEach(async () => {
    tenant = await createGuardedTenant(service);
    payer = await tenant.hire(["clients:manage", "transactions:write", "transactions:read"]);
    officer = await tenant.hire(["clients:manage", "transactions:approve", "transactions:read"]);
    keyId = await service.addKeyAsOperator(payer, key);
    await service.addKeyAsOperator(officer, key);
  });

  const removeKey = (by: Person, of: Person) =>
    tenant.call(by, "DELETE", `/v1/clients/${of.clientId}/keys/${keyId}`);
  const shared = { ...dependent, body: { error: { message: expect.stringContaining("public key") } } };

  it("is in common also if the requester has removed it since", async () => {
    const payment = await tenant.pay(payer);
    expect(await removeKey(payer, payer)).toMatchObject({ status: 200 });
    expect(await tenant.approve(officer, payment)).toMatchObject(shared);
    // A writer to the database does not make the service forget it.
    await service.database.query(
      sql`UPDATE clients SET former_keys = NULL WHERE id = ${readId("cli", payer.clientId)}`,
    );
    expect(await tenant.approve(officer, payment)).toMatchObject(dependent);
  });

  it("is in common also if a colleague has removed it since", async () => {
    const clerk = await tenant.hire(["transactions:write", "transactions:read"]);
    keyId = await service.addKeyAsOperator(clerk, key);
    const payment = await tenant.pay(clerk);
    expect(await removeKey(payer, clerk)).toMatchObject({ status: 200 });
    expect(await tenant.approve(officer, payment)).toMatchObject(shared);
  });

  it("is in common also if it has expired since", async () => {
    const clerk = await tenant.hire(["transactions:write", "transactions:read"]);
    const expiresAt = new Date(Date.now() + 3000);
    const added = await tenant.call(tenant.admin, "POST", `/v1/clients/${clerk.clientId}/keys`, {
      ...{ algorithm: "ed25519", public_key: key, expires_at: expiresAt.toISOString() },
    });
    expect(added).toMatchObject({ status: 201 });
    const payment = await tenant.pay(clerk);
    await new Promise((resolve) => setTimeout(resolve, expiresAt.getTime() + 300 - Date.now()));
    expect(await tenant.approve(officer, payment)).toMatchObject(shared);
  });

  it("is in common also if a client has it that has created the requester, or the approver", async () => {
    const clerk = await tenant.create(payer, ["transactions:write", "transactions:read"]);
    const payment = await tenant.pay(clerk);
    expect(await tenant.approve(officer, payment)).toMatchObject(shared);
    expect(await removeKey(payer, payer)).toMatchObject({ status: 200 });
    expect(await tenant.approve(officer, payment)).toMatchObject(shared);
    const made = await tenant.create(officer);
    const other = await tenant.pay(payer);
    expect(await tenant.approve(made, other)).toMatchObject(shared);
  });

  it("is in common also for a change request", async () => {
    const target = await tenant.hire(["clients:manage"]);
    const asked = await tenant.call(payer, "POST", "/v1/change-requests", {
      ...{ kind: "client.key.add", change: { client_id: target.clientId, public_key: newPublicKey() } },
    });
    const { id, digest } = asked.body as unknown as ChangeRequest;
    const approve = (by: Person) => tenant.call(by, "POST", `/v1/change-requests/${id}/approve`, { digest });
    expect(await approve(officer)).toMatchObject(shared);
    expect(await removeKey(payer, payer)).toMatchObject({ status: 200 });
    expect(await approve(officer)).toMatchObject(shared);
  });

  it("is found again when approvals are counted", async () => {
    const two = await createGuardedTenant(service, 2);
    const clerk = await two.hire(["transactions:write", "transactions:read"]);
    const [one, other] = [await two.hire(), await two.hire()];
    await service.addKeyAsOperator(one, key);
    const payment = await two.pay(clerk);
    expect(await two.approve(one, payment)).toMatchObject({ status: 202 });
    const added = await service.addKeyAsOperator(clerk, key);
    const path = `/v1/clients/${clerk.clientId}/keys/${added}`;
    expect(await two.call(two.admin, "DELETE", path)).toMatchObject({ status: 200 });
    expect(await two.approve(other, payment)).toMatchObject({ status: 202 });
    await two.tallied(payment);
    expect(await two.read(payment.id)).toMatchObject({ state: "awaiting_approval" });
    const { body } = await two.call(two.admin, "GET", `/v1/transactions/${payment.id}/approvals/tally`);
    expect((body as unknown as ApprovalTally).decisions.map(({ reason }) => reason)).toEqual([
      "shared_key",
      null,
    ]);
  });

  it("does not help the approver that removes it", async () => {
    const payment = await tenant.pay(payer);
    const { body } = await tenant.call(officer, "GET", `/v1/clients/${officer.clientId}`);
    const [own] = (body as unknown as { keys: { id: string }[] }).keys;
    keyId = own?.id ?? "";
    expect(await removeKey(officer, officer)).toMatchObject({ status: 200 });
    expect(await tenant.approve(officer, payment)).toMatchObject(dependent);
  });
});
