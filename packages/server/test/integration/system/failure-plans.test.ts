import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { createSystemStore } from "../../../src/store/system/system-store.js";
import { beliefs } from "../../harness/database/beliefs.js";
import { explain, findPlanFaults } from "../../harness/database/plans.js";
import { type Recording, recordStatements } from "../../harness/database/recorded-database.js";
import { createTestDatabase } from "../../harness/database/test-database.js";

it("the list of failures reads none of the payments that are held, whatever statistics say", async () => {
  const database = await createTestDatabase();
  const tenantId = randomUUID();
  await database.run(`
    INSERT INTO open_transactions (tenant_id, id, state, version, retry_at, last_error)
    SELECT '${tenantId}', gen_random_uuid(), 'accepted', 1, 'infinity', CASE WHEN n <= 3 THEN 'failed' END
    FROM generate_series(1, 5000) n`);
  const recording: Recording = new Map();
  expect(await createSystemStore(recordStatements(database, recording)).listFailures(tenantId)).toHaveLength(
    3,
  );
  const faults = new Set<string>();
  for (const believe of Object.values(beliefs)) {
    await database.run(believe);
    await database.session(async (session) => {
      for (const statement of [...recording.values()].flat()) {
        const plan = await explain(session, statement);
        for (const fault of plan === undefined ? [] : findPlanFaults(plan)) faults.add(fault);
      }
    });
  }
  expect([...faults]).toEqual([]);
  await database.drop();
});
