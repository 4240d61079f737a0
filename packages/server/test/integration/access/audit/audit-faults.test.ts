import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { faultsMax, verifyAudit } from "../../../../src/app/audit/audit-chain.js";
import { type Checkpoint, signCheckpoint } from "../../../../src/app/audit/checkpoint.js";
import { exportSegment } from "../../../../src/app/audit/segments/export-segment.js";
import { createAuditStore } from "../../../../src/store/access/audit.js";
import type { Database } from "../../../../src/store/core/database.js";
import { createSegments, keys, start } from "../../../harness/access/segments.js";
import type { TestDatabase } from "../../../harness/database/test-database.js";

const segments = createSegments();

describe("a log with several faults", () => {
  let plain: TestDatabase;
  let database: Database;
  let tenantId: string;
  beforeAll(async () => {
    ({ plain, database } = await segments.open());
  });
  afterAll(() => segments.close());
  beforeEach(async () => {
    tenantId = await segments.createTenant();
  });

  const tamper = (...statements: string[]) =>
    plain.run(
      `ALTER TABLE audit_entries DISABLE TRIGGER ALL;
       ${statements.map((one) => `${one} AND tenant_id = '${tenantId}';`).join("")}
       ALTER TABLE audit_entries ENABLE TRIGGER ALL`,
    );
  const change = (numbers: string) => `UPDATE audit_entries SET action = 'other' WHERE number ${numbers}`;
  const verify = async (checkpoints: Checkpoint[] = []) => {
    const store = createAuditStore(database);
    const verdicts = await verifyAudit({ store, keys, tenantIds: [], checkpoints });
    return verdicts.find((one) => one.tenantId === tenantId);
  };
  const checkpointOf = async (number: bigint) => {
    const [entry] = await createAuditStore(database).listAscending(tenantId, 1, number - 1n);
    if (entry === undefined) throw new Error(`there is no entry ${number}`);
    return signCheckpoint(keys, { tenantId, number, hash: entry.hash }, new Date(start));
  };
  const changedAndRemoved = ["entry 2 was changed", "entry 5 is missing", "entry 8 was changed"];

  it("has each of them named: two entries that were changed, and one that was removed", async () => {
    await tamper(change("IN (2, 8)"), "DELETE FROM audit_entries WHERE number = 5");
    // Entry 6 continues a hash that is not there.
    expect(await verify()).toMatchObject({ faults: changedAndRemoved, moreFaults: 0, entries: 6n });
    const exported = await exportSegment(segments.deps(), { tenantId, path: segments.newPath() });
    expect(exported).toEqual({ fault: "entry 2 was changed" });
  });

  it("has them named with those that checkpoints show", async () => {
    const kept = [await checkpointOf(4n), await checkpointOf(9n)];
    const hash = "decode(repeat('ab', 32), 'hex')";
    await tamper(
      change("IN (2, 8)"),
      "DELETE FROM audit_entries WHERE number = 5",
      `UPDATE audit_entries SET hash = ${hash} WHERE number = 9`,
    );
    const { faults } = (await verify(kept)) ?? {};
    expect(faults?.slice(0, 3)).toEqual(changedAndRemoved);
    expect(faults?.slice(3)).toEqual([
      "entry 9 was changed",
      expect.stringContaining("entry 9 differs from its checkpoint"),
      "entry 10 was changed",
    ]);
  });

  it("has the entries of a gap named together, and the end that was removed", async () => {
    await tamper("DELETE FROM audit_entries WHERE number IN (3, 4, 5, 10)");
    expect((await verify())?.faults).toEqual([
      "entry 3 is missing, and so are those up to entry 5",
      "the chain ends at entry 9, but its head is entry 10",
    ]);
  });

  it("has no more of them listed than a bound, and the others counted", async () => {
    await segments.append(tenantId, 1100, 10);
    await tamper(change("> 1"));
    const { faults, moreFaults } = (await verify()) ?? {};
    expect([faults?.length, faults?.at(-1), moreFaults]).toEqual([
      faultsMax,
      `entry ${faultsMax + 1} was changed`,
      1109 - faultsMax,
    ]);
  });
});
