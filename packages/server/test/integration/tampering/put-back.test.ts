import { generateKeyPairSync } from "node:crypto";
import { type ChangeRequest, readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant, type Person } from "../../harness/access/officers.js";
import { createServiceRole, type ServiceRole } from "../../harness/database/service-role.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";

const service = await inspectTamperedService();

describe("a row that the role of the service puts back to an earlier state", () => {
  let role: ServiceRole;
  beforeAll(async () => {
    role = await createServiceRole(service.database);
  });
  afterAll(() => role?.drop());

  // The role cannot delete events; the owner of the table can.
  it.each([
    ["", ""],
    [", without the event of its end", "AND version > 1"],
  ])("does not open a rejected change request again%s", async (_, isDeleted) => {
    const tenant = await createGuardedTenant(service);
    const [officer, decider] = [
      await tenant.hire(),
      await tenant.hire(["clients:manage", "transactions:approve", "transactions:read"]),
    ];
    const public_key = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }).x as string;
    const change = { client_id: officer.clientId, public_key };
    const made = await tenant.call(tenant.admin, "POST", "/v1/change-requests", {
      kind: "client.key.add",
      change,
    });
    const { id, digest } = made.body as unknown as ChangeRequest;
    const decide = (who: Person, decision: string) =>
      tenant.call(who, "POST", `/v1/change-requests/${id}/${decision}`, { digest });
    const own = `id = '${readId("chr", id)}'`;
    const kept = `kept_${(readId("chr", id) ?? "").replaceAll("-", "")}`;
    const columns = "state, version, failure_code, effective_at, updated_at, key_id, mac";
    await service.database.run(
      `CREATE TABLE ${kept} AS SELECT * FROM change_requests WHERE ${own}; GRANT SELECT ON ${kept} TO PUBLIC`,
    );
    expect(await decide(decider, "reject")).toMatchObject({ status: 200, body: { state: "rejected" } });
    await role.run(`
      DELETE FROM change_decisions WHERE change_request_${own};
      UPDATE change_requests SET (${columns}) = (SELECT ${columns} FROM ${kept}) WHERE ${own}`);
    if (isDeleted !== "") await service.database.run(`DELETE FROM events WHERE subject_${own} ${isDeleted}`);
    expect(await decide(decider, "approve")).toMatchObject({ status: 409, code: "CHANGE_REQUEST_TAMPERED" });
    const shown = await tenant.call(tenant.admin, "GET", `/v1/change-requests/${id}`);
    expect(shown.body).toMatchObject({ state: "failed", failure_code: "CHANGE_REQUEST_TAMPERED" });
    const client = await tenant.call(tenant.admin, "GET", `/v1/clients/${officer.clientId}`);
    expect(client.body).toMatchObject({ keys: [] });
    await service.database.run(`DROP TABLE ${kept}`);
  });

  it("does not resume a tenant that is suspended, and the operator still can", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner);
    const tenantId = readId("tnt", owner.tenantId) ?? "";
    const status = async () => (await service.call("GET", "/v1/me", token)).status;
    await service.setTenantSuspended(owner, true);
    await eventually(status, (found) => found === 403);
    await role.run(`
      UPDATE tenants SET suspended_at = NULL WHERE id = '${tenantId}';
      INSERT INTO audit_entries (tenant_id, number, occurred_at, actor, action, outcome, repeated, hash, key_id)
      SELECT tenant_id, number + 1000, now(), 'operator', 'tenant.resume', 'succeeded', 1, sha256('x'), key_id
      FROM audit_heads WHERE tenant_id = '${tenantId}'`);
    await expect(service.token(owner)).rejects.toThrow();
    await eventually(
      () =>
        service.database.query(sql`SELECT FROM tenants WHERE id = ${tenantId} AND suspended_at IS NOT NULL`),
      (rows) => rows.length === 1,
    );
    await service.setTenantSuspended(owner, false);
    await eventually(status, (found) => found === 200);
  });
});

describe("an opt-out that the operator has ended", () => {
  it("does not count again while the owner of the tables takes its last entry out of the log", async () => {
    const tenant = await createGuardedTenant(service);
    const id = tenant.owner.client.tenantId;
    const officer = await tenant.hire();
    const rotate = () => tenant.call(tenant.admin, "POST", `/v1/clients/${officer.clientId}/secrets`, {});
    const kept = `kept_${id.replaceAll("-", "")}`;
    const columns = "single_administrator, settings_entry, settings_key_id, settings_mac";
    await service.setSingleAdministrator(tenant.owner, true);
    await service.database.run(`CREATE TABLE ${kept} AS SELECT * FROM tenants WHERE id = '${id}'`);
    await service.setSingleAdministrator(tenant.owner, false);
    await service.database.run(`BEGIN; SELECT set_config('bursar.audit_prune', 'on', true);
      DELETE FROM audit_entries WHERE tenant_id = '${id}' AND action = 'tenant.single_administrator_off'; COMMIT;
      UPDATE tenants SET (${columns}) = (SELECT ${columns} FROM ${kept}) WHERE id = '${id}';
      DROP TABLE ${kept}`);
    expect(await rotate()).toMatchObject({ status: 403 });
    await service.setSingleAdministrator(tenant.owner, true);
    expect(await rotate()).toMatchObject({ status: 201 });
  });
});
