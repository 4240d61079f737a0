import { type ChangeRequest, readId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant, type Person } from "../../../harness/access/officers.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

async function setUp() {
  const tenant = await createGuardedTenant(service);
  const { admin } = tenant;
  const target = await tenant.create(admin, ["transactions:read"]);
  const change = (body: object) => tenant.call(admin, "PATCH", `/v1/clients/${target.clientId}`, body);
  const enable = () => change({ state: "active" });
  const stop = () => service.changeAsOperator(target, { state: "disabled" });
  const request = async (kind: string, by: Person, rest: object) => {
    const body = { kind, change: { client_id: target.clientId, ...rest } };
    const { id, digest } = (await tenant.call(admin, "POST", "/v1/change-requests", body))
      .body as unknown as ChangeRequest;
    return await tenant.call(by, "POST", `/v1/change-requests/${id}/approve`, { digest });
  };
  const subject = {
    tenantId: readId("tnt", admin.tenantId) ?? "",
    id: readId("cli", target.clientId) ?? "",
  };
  return { ...tenant, target, change, enable, stop, request, subject };
}

const refused = { status: 403, code: "CHANGE_REQUEST_REQUIRED" };

describe("a stop by the operator is not ended by one client", () => {
  it("that has disabled the client before, or is approved to remove a secret of it", async () => {
    const { change, enable, stop, request, hire, call, admin, target } = await setUp();
    expect((await change({ state: "disabled" })).status).toBe(200);
    await stop();
    expect(await enable()).toMatchObject(refused);
    const decider = await hire(["clients:manage"]);
    const { secrets } = (await call(admin, "GET", `/v1/clients/${target.clientId}`)).body as unknown as {
      secrets: { id: string }[];
    };
    const removed = await request("client.secret.remove", decider, { secret_id: secrets[0]?.id });
    expect(removed.body).toMatchObject({ state: "applied" });
    expect(await enable()).toMatchObject(refused);
    // What the operator has enabled again, a client disables and enables.
    await service.changeAsOperator(target, { state: "active" });
    expect((await change({ state: "disabled" })).status).toBe(200);
    expect((await enable()).status).toBe(200);
  });

  it("if only the stop was recorded, whatever something else records after it", async () => {
    const { change, enable, stop, subject, target } = await setUp();
    const { tenantId, id } = subject;
    await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM clients WHERE id = ${id} FOR UPDATE`);
      await stop();
    });
    expect(await enable()).toMatchObject(refused);
    expect((await change({ state: "disabled", cancel: ["transactions"] })).status).toBe(200);
    await service.database.run(`
      INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at)
      VALUES ('${tenantId}', '${id}', 2, false, now()), ('${tenantId}', '${id}', 3, true, now())`);
    expect(await enable()).toMatchObject(refused);
    await service.changeAsOperator(target, { state: "active" });
    expect((await change({ state: "disabled" })).status).toBe(200);
    expect((await enable()).status).toBe(200);
  });

  it("whatever something else inserts: a stop of others, a copy of an earlier end, an end with the MAC of that", async () => {
    const { change, enable, stop, subject, target } = await setUp();
    const insert = (number: string, stopped: boolean) =>
      service.database.run(`
        INSERT INTO stop_records (tenant_id, subject_id, number, stopped, recorded_at, by_operator, key_id, mac)
        SELECT tenant_id, subject_id, ${number}, ${stopped}, now(), false, key_id, mac FROM stop_records
        WHERE subject_id = '${subject.id}' AND number = 2 AND NOT stopped LIMIT 1`);
    expect((await change({ state: "disabled" })).status).toBe(200);
    expect((await enable()).status).toBe(200);
    await stop();
    await insert("4", true);
    expect(await enable()).toMatchObject(refused);
    await insert("2", false);
    expect(await enable()).toMatchObject(refused);
    await insert("5", false);
    expect(await enable()).toMatchObject(refused);
    await service.changeAsOperator(target, { state: "active" });
    expect((await change({ state: "disabled" })).status).toBe(200);
    expect((await enable()).status).toBe(200);
  });

  it("of a tenant with a single administrator that approves as a client which it has made", async () => {
    const { owner, admin, create, enable, stop, request, call, target } = await setUp();
    await service.setSingleAdministrator(owner, true);
    const puppet = await create(admin, ["clients:manage", "transactions:read"]);
    await stop();
    expect(await enable()).toMatchObject(refused);
    expect((await request("client.change", puppet, { state: "active" })).body).not.toMatchObject({
      state: "applied",
    });
    expect((await call(admin, "GET", `/v1/clients/${target.clientId}`)).body).toMatchObject({
      state: "disabled",
    });
    await service.changeAsOperator(target, { state: "active" });
  });
});
