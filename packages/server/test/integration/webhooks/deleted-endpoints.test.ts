import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EndpointKey, endpointName } from "../../../src/app/webhooks/sending.js";
import { withKeys } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createEventLog } from "../../../src/store/events/events.js";
import { createEndpointStore } from "../../../src/store/webhooks/webhook-endpoints.js";
import { removeOldDeliveries } from "../../../src/store/webhooks/webhook-retention.js";
import { createSendingStore } from "../../../src/store/webhooks/webhook-sending.js";
import { keys } from "../../harness/access/segments.js";
import { beliefs } from "../../harness/database/beliefs.js";
import { explain, findPlanFaults } from "../../harness/database/plans.js";
import { type Recording, recordStatements } from "../../harness/database/recorded-database.js";
import { sealEndpoints } from "../../harness/database/seal-rows.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

const deletedCount = 20_000;
const liveCount = 5;

describe("many deleted endpoints", () => {
  const tenantId = randomUUID();
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.run(`
      INSERT INTO webhook_endpoints (tenant_id, id, url, events, state, secret, version, created_at, updated_at)
        SELECT '${tenantId}', uuidv7(), 'https://receiver.example', '{*}',
          CASE WHEN n % ${deletedCount / liveCount} = 0 THEN 'disabled' ELSE 'deleted' END, '', 2, now(), now()
        FROM generate_series(1, ${deletedCount + liveCount}) n;
      INSERT INTO webhook_leases SELECT tenant_id, id, NULL, 0, '-infinity' FROM webhook_endpoints;
    `);
  });
  afterAll(() => database.drop());

  /** The statements of a list, and of a request to create one more. */
  async function recordUse(): Promise<Recording> {
    const recording: Recording = new Map();
    const store = createEndpointStore(
      withKeys(recordStatements(database, recording), keys),
      createEventLog({ publish: () => undefined }),
    );
    const [first] = await store.listEndpoints(tenantId, 2, undefined);
    expect(await store.listEndpoints(tenantId, 200, first?.id)).toHaveLength(liveCount - 1);
    const refused = await store.createEndpoint(
      { ...first, id: randomUUID() } as NonNullable<typeof first>,
      { key: "one more", hash: "00" },
      { action: "webhook_endpoint.create", occurredAt: new Date() } as never,
      liveCount,
    );
    expect(refused).toBe("too_many");
    return recording;
  }

  it.each(Object.entries(beliefs))(
    "are not read by a list, or by a request to create one, if statistics %s",
    async (_, believe) => {
      await database.run(believe);
      const faults: string[] = [];
      let explained = 0;
      for (const [text, [statement]] of await recordUse()) {
        if (!text.includes("webhook_endpoints") || statement === undefined) continue;
        const plan = await database.session((session) => explain(session, statement));
        explained += plan === undefined ? 0 : 1;
        for (const fault of plan === undefined ? [] : findPlanFaults(plan))
          faults.push(`${fault}: ${text.replace(/\s+/g, " ").trim()}`);
      }
      expect(faults).toEqual([]);
      expect(explained).toBe(3);
    },
  );

  it("are removed with their leases, in batches, and those that are not deleted stay", async () => {
    const recording: Recording = new Map();
    await removeOldDeliveries(recordStatements(database, recording), {
      before: new Date(0),
      isStopping: () => false,
      onFailure: (_, error) => {
        throw error;
      },
    });
    const [rows] = await database.query<{ endpoints: number; leases: number }>(sql`
      SELECT (SELECT count(*)::integer FROM webhook_endpoints) AS endpoints,
        (SELECT count(*)::integer FROM webhook_leases) AS leases
    `);
    expect(rows).toEqual({ endpoints: liveCount, leases: liveCount });
    const removals = [...recording].filter(([text]) => text.includes("DELETE FROM webhook_endpoints"));
    expect(removals.map(([, runs]) => runs.length)).toEqual([deletedCount / 1000]);
  });
});

describe("endpoints that no process sends to", () => {
  const endpointCount = 3000;
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.run(`
      INSERT INTO webhook_endpoints (tenant_id, id, url, events, state, secret, version, created_at, updated_at)
        SELECT t.id, uuidv7(), 'https://receiver.example', '{*}', 'enabled', '', 2, now(), now()
        FROM (SELECT uuidv7() AS id FROM generate_series(1, 30)) t, generate_series(1, ${endpointCount / 30});
      INSERT INTO webhook_leases SELECT tenant_id, id, NULL, 0, '-infinity' FROM webhook_endpoints;
      INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, sequence, event, due_at)
        SELECT tenant_id, uuidv7(), id, 1, 'transaction.updated', '-infinity' FROM webhook_endpoints;
    `);
    await sealEndpoints(database, keys);
  });
  afterAll(() => database.drop());

  const acquire = (limit: number, after?: EndpointKey, recording: Recording = new Map()) =>
    createSendingStore(withKeys(recordStatements(database, recording), keys), () => undefined).leases.acquire(
      { tenantIds: "any", areFailing: false, dueBy: new Date(), limit, after },
      randomUUID(),
      60_000,
    );
  const byKey = (one: EndpointKey, other: EndpointKey) => (endpointName(one) < endpointName(other) ? -1 : 1);
  const keysOf = (leases: readonly EndpointKey[]) =>
    leases.map(({ tenantId, endpointId }) => ({ tenantId, endpointId })).sort(byKey);

  it("are acquired in the order of their tenants, from any position on", async () => {
    const all = (
      await database.query<EndpointKey>(
        sql`SELECT tenant_id AS "tenantId", id AS "endpointId" FROM webhook_endpoints`,
      )
    ).sort(byKey);
    const first = keysOf(await acquire(150));
    expect(first).toEqual(all.slice(0, 150));
    expect(keysOf(await acquire(150, first.at(-1)))).toEqual(all.slice(150, 300));
    expect(keysOf(await acquire(150, all.at(-100)))).toEqual(all.slice(-99));
    expect(keysOf(await acquire(10))).toEqual(all.slice(300, 310));
  });

  it.each(Object.entries(beliefs))(
    "are probed until enough are found, and no further, if statistics %s",
    async (_, believe) => {
      await database.run("UPDATE webhook_leases SET holder = NULL, expires_at = '-infinity'");
      await database.run(believe);
      const recording: Recording = new Map();
      const [first] = await acquire(5, undefined, recording);
      expect(await acquire(5, first, recording)).toHaveLength(5);
      const faults: string[] = [];
      for (const [statement] of recording.values()) {
        if (statement === undefined) continue;
        const plan = await database.session((session) => explain(session, statement));
        for (const fault of plan === undefined ? [] : findPlanFaults(plan)) faults.push(fault);
      }
      expect(faults).toEqual([]);
      expect(recording.size).toBe(2);
    },
  );
});
