import { readId } from "@bursar/protocol";
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
