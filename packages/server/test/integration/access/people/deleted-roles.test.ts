import { readId } from "@bursar/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";
import type { TestClient } from "../../../harness/service/test-service.js";

const service = await inspectSharedService();

describe("a role that is deleted while it is given", () => {
  let owner: TestClient;
  let token: string;
  let tenantId: string;
  beforeEach(async () => {
    owner = await service.createTenant();
    token = await service.token(owner);
    tenantId = readId("tnt", owner.tenantId) ?? "";
    await call("POST", "/v1/roles", { name: "treasurer", scopes: ["wallets:read"] });
  });

  const call = async (method: string, path: string, body?: object, by = token) => {
    const response = await service.call(method, path, by, body);
    const text = await response.text();
    return { status: response.status, body: (text === "" ? {} : JSON.parse(text)) as { id?: string } };
  };
  /** By another client: both would otherwise wait for the row of their caller. */
  const remove = async () => {
    const other = await service.createIndependentClient(owner, ["clients:manage"]);
    return () => call("DELETE", "/v1/roles/treasurer", undefined, other.token);
  };
  const waiting = (count: number) =>
    eventually(
      () =>
        service.database.query(sql`
          SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`),
      (found) => found.length >= count,
    );
  /** Whether somebody has a role that is not there. */
  const orphans = () =>
    service.database.query(sql`
      SELECT id FROM clients c WHERE tenant_id = ${tenantId} AND role = 'treasurer' AND NOT EXISTS (
        SELECT FROM roles r WHERE r.tenant_id = c.tenant_id AND r.name = c.role)`);
  const person = { email: "ada@treasury.example", name: "Ada", role: "treasurer" };

  it("is not given by an invitation that was checked before", async () => {
    const held = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM tenants WHERE id = ${tenantId} FOR UPDATE`);
      const deleted = call("DELETE", "/v1/roles/treasurer");
      await waiting(1);
      const invited = call("POST", "/v1/people", person);
      await waiting(2);
      return { deleted, invited };
    });
    expect([(await held.deleted).status, (await held.invited).status]).toEqual([204, 404]);
    expect(await orphans()).toEqual([]);
  });

  it("is not deleted while a change that gives it is being written", async () => {
    const { body } = await call("POST", "/v1/people", { ...person, role: "viewer" });
    const removeRole = await remove();
    const held = await service.database.transaction(async (tx) => {
      // The change has read the role, and waits to append its audit entry.
      await tx.query(sql`SELECT FROM audit_heads WHERE tenant_id = ${tenantId} FOR UPDATE`);
      const changed = call("PATCH", `/v1/people/${body.id}`, { role: "treasurer" });
      await waiting(1);
      const deleted = removeRole();
      await waiting(2);
      return { changed, deleted };
    });
    expect([(await held.changed).status, (await held.deleted).status]).toEqual([200, 409]);
    expect(await orphans()).toEqual([]);
  });

  it("is not given by a change that was checked before", async () => {
    const { body } = await call("POST", "/v1/people", { ...person, role: "viewer" });
    const removeRole = await remove();
    const held = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM clients WHERE id = ${readId("cli", body.id ?? "")} FOR UPDATE`);
      const changed = call("PATCH", `/v1/people/${body.id}`, { role: "treasurer" });
      await waiting(1);
      expect((await removeRole()).status).toBe(204);
      return { changed };
    });
    expect((await held.changed).status).toBe(404);
    expect(await orphans()).toEqual([]);
  });

  it("is not deleted while an open change request gives it, so that nobody voids their own demotion", async () => {
    const { body } = await call("POST", "/v1/people", { ...person, role: "viewer" });
    const requested = await call("POST", "/v1/change-requests", {
      kind: "client.change",
      change: { client_id: body.id, role: "treasurer" },
    });
    expect(requested.status).toBe(201);
    const removeRole = await remove();
    expect(await removeRole()).toMatchObject({ status: 409, body: { error: { code: "ROLE_IN_USE" } } });
    await call("POST", `/v1/change-requests/${requested.body.id}/cancel`, {});
    expect((await removeRole()).status).toBe(204);
  });
});
