import type { PolicyDocument } from "@bursar/domain";
import { readId } from "@bursar/protocol";
import { expect, it } from "vitest";
import { type Statement, sql } from "../../../src/store/core/sql.js";
import { createGuardedTenant } from "../../harness/access/officers.js";
import { eventually } from "../../harness/eventually.js";
import { inspectTamperedService } from "../../harness/service/shared-service.js";
import { createPolicyTenant, type PolicyTenant } from "../../harness/transactions/policy-client.js";

const service = await inspectTamperedService();

const locks: Record<string, (tenantId: string) => Statement> = {
  "its accounts": (id) => sql`SELECT FROM ledger_accounts WHERE tenant_id = ${id} FOR UPDATE`,
  "the row of the tenant": (id) => sql`SELECT FROM tenants WHERE id = ${id} FOR UPDATE`,
  "its event log": (id) => sql`SELECT FROM event_sequences WHERE tenant_id = ${id} FOR UPDATE`,
};

const limited: PolicyDocument = {
  rules: [
    {
      ...{ name: "limit", action: "reject", reason: "too much" },
      when: { sum: { asset: "USD", per: "tenant", period_seconds: 86_400, above: "50000" } },
    },
    {
      ...{ name: "asked", action: "require_approval", approvals: 1 },
      when: { amount: { asset: "USD", min: "100" } },
    },
  ],
  default: { action: "allow" },
};

async function pay(tenant: PolicyTenant, amount = "1"): Promise<string> {
  const response = await tenant.create(amount);
  expect(response.status).toBe(202);
  return ((await response.json()) as { id: string }).id;
}

async function createLimited(): Promise<PolicyTenant> {
  const tenant = await createPolicyTenant(service);
  await tenant.usePolicy(limited);
  await tenant.settled(await pay(tenant), "completed");
  return tenant;
}

it.each(Object.entries(locks))(
  "a tenant is settled while a role of the database holds a lock on %s of another",
  async (_, lockOf) => {
    const [locked, other] = [await createLimited(), await createLimited()];
    const anna = await other.addClient("anna");
    const { first, last, waitedMs } = await service.database.transaction(async (tx) => {
      await tx.query(lockOf(locked.tenantId));
      const first = await pay(locked);
      const begunMs = performance.now();
      await other.settled(await pay(other), "completed");
      const asked = await other.settled(await pay(other, "100"), "awaiting_approval");
      const last = await pay(locked);
      await other.say(anna, asked.id, asked.approval?.digest ?? "");
      await other.settled(asked.id, "completed");
      const waitedMs = performance.now() - begunMs;
      expect((await locked.read(first)).state).toBe("accepted");
      return { first, last, waitedMs };
    });
    // A second until the lock is given up, and the pauses of what waits for an approval.
    expect(waitedMs).toBeLessThan(8000);
    for (const id of [first, last]) await locked.settled(id, "completed");
  },
);

it.each([
  ["is swept", false],
  ["was recorded alone", true],
])(
  "payments of a stopped client are cancelled while another tenant's accounts are locked, if the stop %s",
  async (_, isAlone) => {
    const stoppable = async () => {
      const tenant = await createGuardedTenant(service);
      const client = await tenant.hire(["transactions:write", "transactions:read"]);
      const { id } = await tenant.pay(client);
      const isCancelled = async () => (await tenant.read(id)).state === "cancelled";
      return { client, isCancelled, tenantId: readId("tnt", tenant.owner.tenantId) ?? "" };
    };
    const [locked, other] = [await stoppable(), await stoppable()];
    const disable = ({ client, tenantId }: typeof locked) => {
      const stop = () => service.changeAsOperator(client, { state: "disabled", cancel: ["transactions"] });
      if (!isAlone) return stop();
      return service.database.transaction(async (own) => {
        await own.query(sql`SELECT FROM audit_heads WHERE tenant_id = ${tenantId} FOR UPDATE`);
        await stop();
      });
    };
    const waitedMs = await service.database.transaction(async (tx) => {
      await tx.query(sql`SELECT FROM ledger_accounts WHERE tenant_id = ${locked.tenantId} FOR UPDATE`);
      await disable(locked);
      const begunMs = performance.now();
      await disable(other);
      await eventually(other.isCancelled, Boolean);
      expect(await locked.isCancelled()).toBe(false);
      return performance.now() - begunMs;
    });
    expect(waitedMs).toBeLessThan(8000);
    await eventually(locked.isCancelled, Boolean);
  },
);
