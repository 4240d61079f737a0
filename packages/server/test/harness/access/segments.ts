import { createHash, randomUUID } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { IntegrityKeys } from "../../../src/app/access/integrity-keys.js";
import { verifyAudit } from "../../../src/app/audit/audit-chain.js";
import { describeAct } from "../../../src/app/audit/audit-entry.js";
import type { Checkpoint } from "../../../src/app/audit/checkpoint.js";
import { type ExportRequest, exportSegment } from "../../../src/app/audit/segments/export-segment.js";
import { pruneSegment } from "../../../src/app/audit/segments/prune-segment.js";
import { verifySegments } from "../../../src/app/audit/segments/verify-segments.js";
import { createAuditStore } from "../../../src/store/access/audit.js";
import { createSegmentStore } from "../../../src/store/access/audit-segments.js";
import { type Database, withKeys } from "../../../src/store/core/database.js";
import { createTestDatabase, type TestDatabase } from "../database/test-database.js";
import { createTemporaryFolder } from "../temporary-folder.js";

export const keysOf = (currentId: string, known: string[]): IntegrityKeys => ({
  currentId,
  derive: (label, keyId) =>
    known.includes(keyId) ? createHash("sha256").update(`${label} ${keyId}`).digest() : undefined,
});
export const keys = keysOf("one", ["one"]);
export const start = Date.parse("2026-01-01T00:00:00Z");

/** A database and a folder for exported segments. What names no tenant is about the newest one. */
export function createSegments() {
  const folder = createTemporaryFolder("segments");
  let plain: TestDatabase;
  let database: Database;
  let tenantId: string;
  let files = 0;

  const newPath = () => join(folder, `segment-${++files}.jsonl`);
  /** One entry a minute. */
  const append = async (tenant: string, count: number, from = 0, on: Database = database) => {
    const begun = (await createAuditStore(on).list(tenant, 1, undefined)).length;
    const drafts = Array.from({ length: count }, (_, index) => {
      const at = new Date(start + (from + index) * 60_000);
      const action = begun === 0 && index === 0 ? "tenant.create" : "test.act";
      return { ...describeAct({ by: "operator", tenantId: tenant }, action, `o${from + index}`, at) };
    });
    for (let at = 0; at < drafts.length; at += 500)
      await createAuditStore(on).append(drafts.slice(at, at + 500));
  };
  /** As the service does when it publishes a checkpoint. */
  const publish = (tenant: string) =>
    plain.run(`UPDATE audit_heads SET checkpoint_number = number WHERE tenant_id = '${tenant}'`);
  const deps = (on: Database = database) => ({
    store: createSegmentStore(on),
    keys: on.keys ?? keys,
    now: () => new Date(start),
  });
  const write = async (request: Partial<ExportRequest> = {}) => {
    const path = request.path ?? newPath();
    expect(await exportSegment(deps(), { tenantId, path, ...request })).not.toHaveProperty("fault");
    return path;
  };
  const prune = (path: string, tenant = tenantId) => pruneSegment(deps(), { tenantId: tenant, path });
  const faultsOfFiles = async (paths: string[], checkpoints: Checkpoint[] = []) =>
    (await verifySegments(deps(), paths, checkpoints)).flatMap(({ verdict }) =>
      "fault" in verdict ? verdict.fault : [],
    );
  const verifyChain = async (checkpoints: Checkpoint[] = [], on: Database = database) => {
    const store = createAuditStore(on);
    const verdicts = await verifyAudit({ store, keys: on.keys ?? keys, tenantIds: [tenantId], checkpoints });
    const own = verdicts.find((verdict) => verdict.tenantId === tenantId);
    return { fault: own?.fault, entries: own?.entries, prunedTo: own?.prunedTo };
  };
  const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");
  const rewrite = (path: string, lines: string[]) => writeFileSync(path, `${lines.join("\n")}\n`);
  const numbers = async () =>
    (await createAuditStore(database).listAscending(tenantId, 5000, 0n)).map(({ number }) => Number(number));

  return {
    open: async () => {
      plain = await createTestDatabase();
      database = withKeys(plain, keys);
      return { plain, database };
    },
    close: async () => {
      await plain.drop();
      rmSync(folder, { recursive: true });
    },
    /** A tenant with ten entries, up to a checkpoint. */
    createTenant: async () => {
      tenantId = randomUUID();
      await append(tenantId, 10);
      await publish(tenantId);
      return tenantId;
    },
    newPath,
    append,
    publish,
    deps,
    write,
    prune,
    faultsOfFiles,
    verifyChain,
    linesOf,
    rewrite,
    numbers,
  };
}
