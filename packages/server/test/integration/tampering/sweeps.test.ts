import { readId, type Transaction } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant, type Person } from "../../harness/access/officers.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();

describe("a row that acts in somebody's name, written by the role of the service", () => {
  let role: ServiceRole;
  let tenant: GuardedTenant;
  let payment: Transaction;
  let tenantId: string;
  let officer: Person;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
    tenant = await createGuardedTenant(service, 1);
    officer = await tenant.hire();
    payment = await tenant.pay(tenant.admin);
    tenantId = readId("tnt", tenant.owner.tenantId) ?? "";
  });
  afterAll(() => role?.drop());

  it("cancels no transaction as a sweep of an officer, and is removed", async () => {
    await role.run(`
      INSERT INTO client_sweeps (tenant_id, client_id, kind, requested_by, requested_at)
      VALUES ('${tenantId}', '${tenant.owner.client.id}', 'cancel_transactions', '${readId("cli", officer.clientId)}', now())`);
    const seen = await eventually(
      async () => ({
        rows: await service.database.query(sql`SELECT FROM client_sweeps WHERE tenant_id = ${tenantId}`),
        state: (await tenant.read(payment.id)).state,
      }),
      ({ rows, state }) => rows.length === 0 || state !== "awaiting_approval",
    );
    expect(seen).toEqual({ rows: [], state: "awaiting_approval" });
  });

  it("freezes no wallet for longer than a request to freeze it can take", async () => {
    await role.run(`
      INSERT INTO requested_freezes (tenant_id, wallet_id, until)
      SELECT tenant_id, id, '2099-01-01' FROM wallets WHERE tenant_id = '${tenantId}'`);
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
    await role.run(`DELETE FROM requested_freezes WHERE tenant_id = '${tenantId}'`);
  });
});
