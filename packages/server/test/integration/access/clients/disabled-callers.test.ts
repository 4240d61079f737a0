import { type ChangeRequest, readId } from "@bursar/protocol";
import { expect, it } from "vitest";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant } from "../../../harness/access/officers.js";
import { eventually } from "../../../harness/eventually.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

it("a client that keeps changing others cannot delay that it is disabled", async () => {
  const tenant = await createGuardedTenant(service);
  const manager = await tenant.create(tenant.admin, ["clients:manage", "transactions:read"]);
  const puppet = await tenant.create(manager, ["transactions:read"]);
  const id = readId("cli", manager.clientId) ?? "";
  const waiting = () =>
    service.database.query<{ pid: number }>(sql`
      SELECT a.pid FROM pg_stat_activity a WHERE a.wait_event_type = 'Lock' AND a.datname = current_database()
        AND a.query LIKE '%FROM clients%'`);
  const { disabling, changing } = await service.database.transaction(async (tx) => {
    // As one of its changes that is being committed.
    await tx.query(sql`SELECT FROM clients WHERE id = ${id} FOR SHARE`);
    const disabling = service.changeAsOperator(manager, { state: "disabled" });
    await eventually(waiting, (found) => found.length >= 1);
    const changing = tenant.call(manager, "PATCH", `/v1/clients/${puppet.clientId}`, { name: "again" });
    await eventually(waiting, (found) => found.length >= 2);
    return { disabling, changing };
  });
  await disabling;
  expect((await changing).status).toBe(401);
});

it("a client that the operator has disabled is enabled by the operator or a change request, not by one client", async () => {
  const tenant = await createGuardedTenant(service);
  const { admin } = tenant;
  const target = await tenant.create(admin, ["transactions:read"]);
  const path = `/v1/clients/${target.clientId}`;
  const change = (body: object) => tenant.call(admin, "PATCH", path, body);
  // What it has disabled itself it enables, also if the operator has made the client.
  expect((await change({ state: "disabled" })).status).toBe(200);
  expect((await change({ state: "active" })).status).toBe(200);
  await service.changeAsOperator(target, { state: "disabled" });
  expect((await change({ state: "disabled", cancel: ["transactions"] })).status).toBe(200);
  await service.inviteAsOperator(tenant.owner, { email: "ada@x.example", name: "Ada", role: "viewer" });
  const people = (await tenant.call(admin, "GET", "/v1/people")).body as unknown as {
    data: { id: string }[];
  };
  const person = { ...target, clientId: people.data[0]?.id ?? "" };
  await service.changeAsOperator(person, { state: "disabled" });
  const refused = [
    await change({ state: "active" }),
    await change({ require_signature: true }),
    await tenant.call(admin, "POST", `${path}/secrets`, {}),
    await tenant.call(admin, "PATCH", `/v1/people/${person.clientId}`, { state: "active" }),
  ];
  expect(refused.map(({ status, code }) => [status, code])).toEqual(
    refused.map(() => [403, "CHANGE_REQUEST_REQUIRED"]),
  );
  const decider = await tenant.hire(["clients:manage"]);
  const asked = await tenant.call(admin, "POST", "/v1/change-requests", {
    ...{ kind: "client.change", change: { client_id: target.clientId, state: "active" } },
  });
  const { id, digest } = asked.body as unknown as ChangeRequest;
  const approved = await tenant.call(decider, "POST", `/v1/change-requests/${id}/approve`, { digest });
  expect(approved.body).toMatchObject({ state: "applied" });
  await service.changeAsOperator(person, { state: "active" });
  const read = (await tenant.call(admin, "GET", path)).body;
  expect(read).toMatchObject({ state: "active" });
});
