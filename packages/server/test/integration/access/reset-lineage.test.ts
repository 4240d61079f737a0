import { describe, expect, it } from "vitest";
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
