import { afterAll, beforeAll, expect, it } from "vitest";
import { isRefused } from "../../../src/app/requests/refused.js";
import { requireKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { sealEndpoints } from "../../harness/database/seal-rows.js";
import { eventually } from "../../harness/eventually.js";
import { startClockedParts } from "../../harness/webhooks/clocked-parts.js";
import { ok, startWebhookReceiver, type WebhookReceiver } from "../../harness/webhooks/webhook-receiver.js";

const tenantCount = 3;
const endpointsPerTenant = 80;
const eventsPerTenant = 10;
const healthyEvents = 20;
const underWayPerTenantMax = 64;

let service: Awaited<ReturnType<typeof startClockedParts>>;
let receiver: WebhookReceiver;
beforeAll(async () => {
  // Nothing times out while the test runs, so that a request which hangs never makes room for another.
  service = await startClockedParts({ timeoutMs: 600_000 });
  receiver = await startWebhookReceiver((received, response) => {
    if (received.path.startsWith("/healthy")) ok(received, response);
  });
});
afterAll(async () => {
  await receiver.stop();
  await service.stop();
});

/** A tenant whose receivers accept every request and answer none, with a backlog for each. */
async function createDeadTenant(number: number): Promise<string> {
  const tenant = await service.createTenant();
  for (let index = 0; index < endpointsPerTenant; index++) {
    const url = `${receiver.url}/dead-${number}/${index}`;
    const created = await service.parts.useCases.createEndpoint(tenant.origin, { url }, undefined);
    if (isRefused(created)) throw new Error(created.refused);
  }
  await service.database.query(sql`
    UPDATE webhook_endpoints SET state = 'enabled', verified_at = created_at WHERE tenant_id = ${tenant.id}
  `);
  await sealEndpoints(service.database, requireKeys(service.keyed));
  for (let index = 0; index < eventsPerTenant; index++) await tenant.transact();
  return tenant.id;
}

async function countPending(tenantId: string): Promise<number> {
  const [row] = await service.database.query<{ count: number }>(
    sql`SELECT count(*)::integer AS count FROM pending_deliveries WHERE tenant_id = ${tenantId}`,
  );
  return row?.count ?? 0;
}

it("a healthy endpoint receives everything while hundreds of other tenants' endpoints hang and have a backlog", async () => {
  const dead: string[] = [];
  for (let number = 0; number < tenantCount; number++) dead.push(await createDeadTenant(number));
  for (const tenantId of dead)
    await eventually(
      () => countPending(tenantId),
      (count) => count >= endpointsPerTenant * eventsPerTenant,
    );
  const hanging = (number: number) =>
    receiver.received.filter(({ path }) => path.startsWith(`/dead-${number}/`)).length;
  for (let number = 0; number < tenantCount; number++)
    await eventually(
      () => hanging(number),
      (count) => count === underWayPerTenantMax,
    );

  const healthy = await service.createTenant();
  await healthy.createEndpoint(`${receiver.url}/healthy`);
  for (let index = 0; index < healthyEvents; index++) await healthy.transact();
  await receiver.arrived("/healthy", healthyEvents);
  await healthy.deliveriesWhen(
    (all) => all.length === healthyEvents && all.every(({ state }) => state === "delivered"),
  );
  for (const [number, tenantId] of dead.entries()) {
    expect(hanging(number)).toBe(underWayPerTenantMax);
    expect(await countPending(tenantId)).toBe(endpointsPerTenant * eventsPerTenant);
  }
});
