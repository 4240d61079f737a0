import { describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant, type GuardedTenant } from "../../../harness/access/officers.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

describe("a tenant with a single administrator", () => {
  const optOut = (tenant: GuardedTenant, isOn: boolean) => service.setSingleAdministrator(tenant.owner, isOn);

  it("has no protected clients and no lineages, which its clients see and cannot change", async () => {
    const tenant = await createGuardedTenant(service);
    const me = async () =>
      (await tenant.call(tenant.admin, "GET", "/v1/me")).body as unknown as {
        tenant: { single_administrator: boolean };
      };
    expect((await me()).tenant.single_administrator).toBe(false);
    await optOut(tenant, true);
    expect((await me()).tenant.single_administrator).toBe(true);
    const officer = await tenant.create(tenant.admin);
    const payment = await tenant.pay(tenant.admin);
    expect(await tenant.approve(tenant.admin, payment)).toMatchObject({
      status: 403,
      code: "POLICY_REJECTED",
    });
    expect(await tenant.approve(officer, payment)).toMatchObject({ status: 202 });
    await tenant.completes(payment);
    const path = `/v1/clients/${officer.clientId}`;
    expect(await tenant.call(tenant.admin, "POST", `${path}/secrets`, {})).toMatchObject({ status: 201 });
    await optOut(tenant, false);
    const next = await tenant.pay(tenant.admin);
    expect(await tenant.approve(officer, next)).toMatchObject({ code: "APPROVER_NOT_INDEPENDENT" });
  });
});

describe("an opt-out that the operator has ended", () => {
  it("does not count again when its row is put back", async () => {
    const tenant = await createGuardedTenant(service);
    const id = tenant.owner.client.tenantId;
    const officer = await tenant.hire();
    const rotate = () => tenant.call(tenant.admin, "POST", `/v1/clients/${officer.clientId}/secrets`, {});
    const columns = (
      await service.database.query<{ name: string }>(sql`
        SELECT column_name AS name FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = 'tenants' AND column_name ~ '^(settings_|single_)'`)
    ).map(({ name }) => name);
    const kept = `kept_${id.replaceAll("-", "")}`;
    await service.setSingleAdministrator(tenant.owner, true);
    await service.database.run(`CREATE TABLE ${kept} AS SELECT * FROM tenants WHERE id = '${id}'`);
    await service.setSingleAdministrator(tenant.owner, false);
    expect(await rotate()).toMatchObject({ status: 403 });
    await service.database.run(`
      UPDATE tenants SET (${columns.join(", ")}) = (SELECT ${columns.join(", ")} FROM ${kept}) WHERE id = '${id}';
      DROP TABLE ${kept}`);
    expect(await rotate()).toMatchObject({ status: 403 });
    await service.setSingleAdministrator(tenant.owner, true);
    expect(await rotate()).toMatchObject({ status: 201 });
  });
});

describe("GET /v1/me", () => {
  it("describes any valid token: client, tenant, scopes, quotas and expiry", async () => {
    const owner = await service.createTenant();
    const token = await service.token(owner, "wallets:read");
    const response = await service.call("GET", "/v1/me", token);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      object: "me",
      client: { id: owner.clientId, name: "first", require_signature: false },
      tenant: { id: owner.tenantId, name: "test", single_administrator: false },
      token: { scopes: ["wallets:read"], expires_at: expect.any(String) },
      quotas: { create: { per_second: expect.any(Number) }, read: { burst: expect.any(Number) } },
    });
    expect((await service.call("GET", "/v1/me", undefined)).status).toBe(401);
  });
});
