import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { exportSegment } from "../../../../src/app/audit/segments/export-segment.js";
import { pruneSegment } from "../../../../src/app/audit/segments/prune-segment.js";
import { verifySegments } from "../../../../src/app/audit/segments/verify-segments.js";
import { createSegmentStore } from "../../../../src/store/access/audit-segments.js";
import { openDatabase, withKeys } from "../../../../src/store/core/database.js";
import {
  changeOwnerScript,
  createRolesScript,
  grantScript,
} from "../../../../src/store/core/schema/database-roles.js";
import { createSegments, keys, keysOf } from "../../../harness/access/segments.js";
import { createTestDatabase, type TestDatabase } from "../../../harness/database/test-database.js";

const segments = createSegments();
const { newPath, append, publish, write, deps, verifyChain } = segments;

describe("exported segments of the audit log", () => {
  let plain: TestDatabase;
  let tenantId: string;
  beforeAll(async () => {
    ({ plain } = await segments.open());
  });
  beforeEach(async () => {
    tenantId = await segments.createTenant();
  });
  afterAll(() => segments.close());

  it("still verify, and continue, after the master key was replaced", async () => {
    const first = await write({ before: 6n });
    const later = withKeys(plain, keysOf("two", ["one", "two"]));
    await append(tenantId, 5, 10, later);
    await publish(tenantId);
    await append(tenantId, 1, 20, later);
    const second = newPath();
    await exportSegment(deps(later), { tenantId, path: second, afterPath: first });
    const verdicts = await verifySegments(deps(later), [first, second], []);
    expect(verdicts.map(({ verdict }) => verdict)).toMatchObject([{ last: 5n }, { first: 6n, last: 15n }]);
    expect(await pruneSegment(deps(later), { tenantId, path: first })).toEqual({ first: 1n, last: 5n });
    expect(await pruneSegment(deps(later), { tenantId, path: second })).toEqual({ first: 6n, last: 15n });
    expect(await verifyChain([], later)).toMatchObject({ fault: undefined, prunedTo: 15n });
    // A key that is not retained verifies nothing.
    const without = await verifySegments({ ...deps(), keys: keysOf("two", ["two"]) }, [first], []);
    expect(without[0]?.verdict).toEqual({ fault: "entry 1 was keyed with the unknown master key one" });
  });

  it("are removed by the owner of the tables, and not by the role of the service", async () => {
    const suffix = randomBytes(4).toString("hex");
    const roles = { owner: `owner_${suffix}`, service: `service_${suffix}` };
    const own = await createTestDatabase();
    await own.run(
      [createRolesScript(roles), changeOwnerScript(roles), grantScript(roles)].join("\n") +
        `ALTER ROLE ${roles.service} PASSWORD 'test'; ALTER ROLE ${roles.owner} PASSWORD 'test'`,
    );
    const as = (role: string) => {
      const url = new URL(own.url);
      url.username = role;
      url.password = "test";
      return withKeys(openDatabase({ url: url.href, connectionsMax: 2 }), keys);
    };
    const [owner, service] = [as(roles.owner), as(roles.service)];
    await append(tenantId, 10, 0, service);
    await own.run("UPDATE audit_heads SET checkpoint_number = number");
    await append(tenantId, 1, 20, service);
    const path = newPath();
    expect(await exportSegment(deps(service), { tenantId, path })).not.toHaveProperty("fault");
    expect(await createSegmentStore(service).findPowerlessRole()).toBe(roles.service);
    await expect(pruneSegment(deps(service), { tenantId, path })).rejects.toThrow("permission denied");
    expect(await createSegmentStore(owner).findPowerlessRole()).toBeUndefined();
    expect(await pruneSegment(deps(owner), { tenantId, path })).toEqual({ first: 1n, last: 10n });
    expect(await verifyChain([], service)).toMatchObject({ fault: undefined, prunedTo: 10n });
    await Promise.all([owner.close(), service.close()]);
    await own.dropNow();
    const admin = openDatabase({ url: inject("postgresUrl"), connectionsMax: 1 });
    await admin.session((session) => session.script(`DROP ROLE ${roles.service}; DROP ROLE ${roles.owner}`));
    await admin.close();
  });
});
