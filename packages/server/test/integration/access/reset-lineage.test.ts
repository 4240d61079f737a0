import { readId } from "@bursar/protocol";
import { describe, expect, it } from "vitest";
import { describeAct } from "../../../src/app/audit/audit-entry.js";
import { restoreClient } from "../../../src/store/access/authenticate-clients.js";
import { withKeys } from "../../../src/store/core/database.js";
import { createGuardedTenant } from "../../harness/access/officers.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";

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

describe("the restoration of a client that was tampered with", () => {
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
