import { readId } from "@bursar/protocol";
import { expect, it } from "vitest";
import { sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant } from "../../harness/access/officers.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";

const service = await inspectSharedService();

/** Something else holds a lock while a client is disabled, so that only the stop is recorded. */
it.each([
  ["while the client is disabled", false],
  ["if the client is enabled at once", true],
])("payments that are to be cancelled with a disabled client are cancelled %s", async (_, isEnabled) => {
  const tenant = await createGuardedTenant(service);
  const requester = await tenant.hire(["transactions:write", "transactions:read"]);
  const colleague = await tenant.hire(["transactions:write", "transactions:read"]);
  const payment = await tenant.pay(requester);
  const other = await tenant.pay(colleague);
  await service.database.transaction(async (tx) => {
    const tenantId = readId("tnt", tenant.owner.tenantId);
    await tx.query(sql`SELECT FROM audit_heads WHERE tenant_id = ${tenantId} FOR UPDATE`);
    await service.changeAsOperator(requester, { state: "disabled", cancel: ["transactions"] });
  });
  if (isEnabled) await service.changeAsOperator(requester, { state: "active" });
  await eventually(
    () => tenant.read(payment.id),
    ({ state }) => state === "cancelled",
  );
  expect(await tenant.read(other.id)).toMatchObject({ state: "awaiting_approval" });
});
