import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../harness/access/officers.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();

/** The writer has the rights of the service's role, and no master key. */
describe("a payment that has ended, and that a writer to the database makes open again", () => {
  let role: ServiceRole;
  let tenant: GuardedTenant;
  let officers: Person[];
  let payment: Transaction;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
  });
  afterAll(() => role?.drop());
  beforeEach(async () => {
    tenant = await createGuardedTenant(service, 2);
    officers = [await tenant.hire(), await tenant.hire()];
    payment = await tenant.pay(tenant.admin);
  });

  const own = () => `id = '${readId("tx", payment.id)}'`;
  const open = (state: string, version: number) =>
    role.run(`
      INSERT INTO open_transactions (tenant_id, id, state, version, needs_judgement, due_at)
      SELECT tenant_id, id, '${state}', ${version}, true, '-infinity' FROM transactions WHERE ${own()}`);
  /** The policy of now allows it. */
  const allow = () =>
    service.database.query(sql`
      INSERT INTO policies (tenant_id, version, document, client_id, created_at)
      SELECT tenant_id, 2, '{"rules": [], "default": {"action": "allow"}}', client_id, now() FROM policies
      WHERE tenant_id = ${readId("tnt", tenant.owner.tenantId)}`);
  const approve = (officer: Person) => tenant.approve(officer, payment);
  const cancel = async () =>
    expect(await tenant.call(tenant.admin, "POST", `/v1/transactions/${payment.id}/cancel`)).toMatchObject({
      status: 202,
    });
  const isSetAside = async () => {
    const [row] = await eventually(
      () =>
        service.database.query<{ lastError: string | null }>(
          sql`SELECT last_error AS "lastError" FROM open_transactions WHERE id = ${readId("tx", payment.id)}`,
        ),
      (rows) => rows[0]?.lastError !== null,
    );
    expect(row?.lastError).toContain("was made open again");
  };

  it("gets no further approval, and is not settled, after it was cancelled", async () => {
    expect(await approve(officers[0] as Person)).toMatchObject({ status: 202 });
    await tenant.tallied(payment);
    await cancel();
    await open("awaiting_approval", 4);
    expect(await approve(officers[1] as Person)).toMatchObject({ status: 409, code: "TRANSACTION_TAMPERED" });
    await isSetAside();
  });

  it("is not settled with the approvals that it had before it was cancelled", async () => {
    await role.run(`UPDATE open_transactions SET retry_at = '2099-01-01' WHERE ${own()}`);
    for (const officer of officers) expect(await approve(officer)).toMatchObject({ status: 202 });
    await cancel();
    await open("awaiting_approval", 5);
    await isSetAside();
  });

  it("is not judged again after an officer has rejected it, also with its first version", async () => {
    const digest = payment.approval?.digest;
    const rejected = await tenant.call(
      officers[0] as Person,
      "POST",
      `/v1/transactions/${payment.id}/approvals`,
      { decision: "reject", digest },
    );
    expect(rejected).toMatchObject({ status: 202 });
    await eventually(
      () => tenant.read(payment.id),
      ({ state }) => state === "rejected",
    );
    await allow();
    await role.run(`DELETE FROM judgements WHERE transaction_${own()}`);
    await open("accepted", 1);
    await isSetAside();
  });

  it("is not judged again while it waits for approvals, also with its first version", async () => {
    await allow();
    await role.run(`
      DELETE FROM judgements WHERE transaction_${own()};
      UPDATE open_transactions SET state = 'accepted', version = 1, due_at = NULL WHERE ${own()}`);
    await isSetAside();
  });
});
