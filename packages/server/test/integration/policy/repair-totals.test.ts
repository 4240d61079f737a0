import type { PolicyDocument } from "@bursar/domain";
import { expect, it } from "vitest";
import { describeAct } from "../../../src/app/audit/audit-entry.js";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { listTotalsAhead, repairTotals } from "../../../src/store/policy/repair-totals.js";
import { eventually } from "../../harness/eventually.js";
import { inspectSharedService } from "../../harness/service/shared-service.js";
import { createPolicyTenant } from "../../harness/transactions/policy-client.js";

const service = await inspectSharedService();
const database = withKeys(service.database, service.keys);

const twoAMinute: PolicyDocument = {
  rules: [
    {
      name: "two-a-minute",
      when: { count: { per: "tenant", period_seconds: 60, above: 2 } },
      action: "reject",
      reason: "Two a minute.",
    },
  ],
  default: { action: "allow" },
};

it("totals in the future are listed, and repaired so that a limit counts what was paid once and then frees it", async () => {
  const tenant = await createPolicyTenant(service);
  const { tenantId } = tenant;
  await tenant.usePolicy(twoAMinute);
  const pay = async () => {
    const { id } = (await (await tenant.create("1")).json()) as { id: string };
    const paid = await eventually(
      () => tenant.read(id),
      ({ state }) => state !== "accepted",
    );
    return paid.state;
  };
  const later = (interval: string) =>
    service.database.query(sql`
      UPDATE usage_buckets SET start = start + ${interval}::interval
      WHERE window_id IN (SELECT id FROM usage_windows WHERE tenant_id = ${tenantId})
    `);
  expect([await pay(), await pay()]).toEqual(["completed", "completed"]);
  // A process whose clock was 30 days ahead has counted them.
  await later("30 days");
  await later("-61 seconds");
  // Both were more than a minute ago, and still count.
  expect(await pay()).toBe("rejected");

  const own = async () =>
    (await listTotalsAhead(database, new Date())).filter((found) => found.tenantId === tenantId);
  expect(await own()).toMatchObject([{ tenantId }]);
  const now = new Date();
  const origin = { by: "operator", tenantId } as const;
  const audit = describeAct(origin, "totals.repair", tenant.publicId, now);
  const events = createEventLog({ publish: () => undefined });
  expect(await repairTotals(database, events, { tenantId, now, audit })).toBeGreaterThan(0);
  expect(await own()).toEqual([]);
  // What was counted counts as of now, not less.
  expect(await pay()).toBe("rejected");
  await later("-61 seconds");
  expect([await pay(), await pay(), await pay()]).toEqual(["completed", "completed", "rejected"]);
  const [entry] = await service.database.query<{ actor: string }>(
    sql`SELECT actor FROM audit_entries WHERE tenant_id = ${tenantId} AND action = 'totals.repair'`,
  );
  expect(entry?.actor).toBe("operator");
});
