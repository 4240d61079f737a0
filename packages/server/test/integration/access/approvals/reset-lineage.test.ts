import { setTimeout } from "node:timers/promises";
import { readId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { describeAct } from "../../../../src/app/audit/audit-entry.js";
import { restoreClient } from "../../../../src/store/access/authenticate-clients.js";
import { withKeys } from "../../../../src/store/core/database.js";
import { sql } from "../../../../src/store/core/sql.js";
import { createGuardedTenant, type Person } from "../../../harness/access/officers.js";
import { inspectSharedService } from "../../../harness/service/shared-service.js";

const service = await inspectSharedService();

describe("the reset of a client", () => {
  it("does not make the clients that it has created independent of its creator", async () => {
    const tenant = await createGuardedTenant(service);
    const manager = await tenant.create(tenant.admin, [
      "clients:manage",
      "transactions:approve",
      "transactions:read",
    ]);
    const made = await tenant.create(manager);
    const secret = await service.resetAsOperator(manager);
    const dependent = { status: 403, code: "APPROVER_NOT_INDEPENDENT" };
    expect(await tenant.approve(made, await tenant.pay(tenant.admin))).toMatchObject(dependent);
    const independent = await tenant.login({ ...manager, secret });
    expect(await tenant.approve(independent, await tenant.pay(tenant.admin))).toMatchObject({ status: 202 });
  });
});

describe("a payment with credentials from before the reset of its client", () => {
  it("cannot be approved by the client that had them, also if another process accepted it after the reset", async () => {
    const tenant = await createGuardedTenant(service);
    const payer = await tenant.create(tenant.admin, ["transactions:write", "transactions:read"]);
    // A process that has not noticed the reset accepts the former token for up to 5 s, as the new one here.
    const renewed = await tenant.login({ ...payer, secret: await service.resetAsOperator(payer) });
    expect(await tenant.approve(tenant.admin, await tenant.pay(renewed))).toMatchObject({
      ...{ status: 403, code: "APPROVER_NOT_INDEPENDENT" },
    });
  });

  it("counts as requested before the reset if the reset has waited for it", async () => {
    const tenant = await createGuardedTenant(service);
    const payer = await tenant.create(tenant.admin, ["transactions:write", "transactions:read"]);
    const id = readId("cli", payer.clientId) ?? "";
    const { resetting, heldUntil } = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM clients WHERE id = ${id} FOR UPDATE`);
      const begun = service.resetAsOperator(payer);
      await setTimeout(300);
      const [row] = await tx.query<{ at: Date }>(sql`SELECT clock_timestamp() AS at`);
      return { resetting: begun, heldUntil: row?.at ?? new Date(0) };
    });
    await resetting;
    const [row] = await service.database.query<{ at: Date }>(
      sql`SELECT reset_at AS at FROM clients WHERE id = ${id}`,
    );
    // The clocks of a process and of the database differ by some milliseconds.
    expect((row?.at.getTime() ?? 0) - heldUntil.getTime()).toBeGreaterThan(-100);
  });
});

describe("the restoration of a client that was tampered with", () => {
  const scopes = ["clients:manage", "transactions:approve", "transactions:read"] as const;
  const dependent = { status: 403, code: "APPROVER_NOT_INDEPENDENT" };
  const restore = (client: Person) => {
    const origin = { by: "operator", tenantId: readId("tnt", client.tenantId) ?? "" } as const;
    const audit = describeAct(origin, "client.restore", client.clientId, new Date());
    const database = withKeys(service.database, service.keys);
    return restoreClient(database, readId("cli", client.clientId) ?? "", scopes, audit);
  };
  const forgetControllers = ({ clientId }: Person) =>
    service.database.run(`
      UPDATE clients SET controllers = '{}', authority_changed_by = NULL, created_by = NULL
      WHERE id = '${readId("cli", clientId)}'`);

  it("does not believe the row about who could act as the client", async () => {
    const tenant = await createGuardedTenant(service);
    const manager = await tenant.create(tenant.admin, scopes);
    const made = await tenant.create(manager);
    await forgetControllers(manager);
    await restore(manager);
    expect(await tenant.approve(made, await tenant.pay(tenant.admin))).toMatchObject(dependent);
  });

  it("restores the others that were tampered with, so that none is left out", async () => {
    const tenant = await createGuardedTenant(service);
    const manager = await tenant.create(tenant.admin, scopes);
    const made = await tenant.create(manager);
    await forgetControllers(manager);
    await forgetControllers(made);
    await expect(service.resetAsOperator(tenant.admin)).rejects.toThrow("was changed by something other");
    await restore(manager);
    const shown = (await tenant.call(tenant.admin, "GET", `/v1/clients/${made.clientId}`)).body;
    expect(shown).toMatchObject({ state: "disabled", scopes: [], secrets: [], keys: [] });
  });

  it("does not make the clients that it has created independent of its creator", async () => {
    const tenant = await createGuardedTenant(service);
    const scopes = ["clients:manage", "transactions:approve", "transactions:read"] as const;
    const manager = await tenant.create(tenant.admin, scopes);
    const made = await tenant.create(manager);
    const id = readId("cli", manager.clientId) ?? "";
    await service.database.run(`UPDATE clients SET name = 'changed' WHERE id = '${id}'`);
    const origin = { by: "operator", tenantId: readId("tnt", manager.tenantId) ?? "" } as const;
    const audit = describeAct(origin, "client.restore", manager.clientId, new Date());
    const database = withKeys(service.database, service.keys);
    expect(await restoreClient(database, id, scopes, audit)).toMatchObject({ controllers: [] });
    expect(await tenant.approve(made, await tenant.pay(tenant.admin))).toMatchObject({
      status: 403,
      code: "APPROVER_NOT_INDEPENDENT",
    });
  });
});
