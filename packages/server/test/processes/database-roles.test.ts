import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { openDatabase } from "../../src/store/core/database.js";
import { createTestDatabase, type RemovableDatabase } from "../harness/database/test-database.js";
import { runBursar, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

describe("`bursar database roles` for an empty database", () => {
  const suffix = randomBytes(4).toString("hex");
  const roles = { owner: `owner_${suffix}`, service: `service_${suffix}` };
  const folder = createTemporaryFolder("database-roles");
  const keyFile = join(folder, "master.key");
  let database: RemovableDatabase;
  beforeAll(async () => {
    database = await createTestDatabase("empty");
    writeFileSync(keyFile, randomBytes(32).toString("base64"), { mode: 0o600 });
  });
  afterAll(async () => {
    await database.dropNow();
    await runAs(inject("postgresUrl"), `DROP ROLE ${roles.service}; DROP ROLE ${roles.owner}`);
    rmSync(folder, { recursive: true });
  });
  const runAs = async (url: string, script: string) => {
    const opened = openDatabase({ url, connectionsMax: 1 });
    await opened.session((session) => session.script(script)).finally(opened.close);
  };
  const asRole = (role: string) => {
    const url = new URL(database.url);
    url.username = role;
    url.password = "test";
    return url.href;
  };
  /** What a service writes until it is ready, as this role. */
  const serveAs = async (role: string) => {
    const env = { BURSAR_DATABASE_SCHEMA: "payments", BURSAR_MASTER_KEY_FILE: keyFile };
    const service = spawnBursar({ args: ["serve"], env: { ...env, DATABASE_URL: asRole(role) } });
    try {
      const url = await service.ready();
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      return service.output();
    } finally {
      service.child.kill("SIGTERM");
      await service.exited;
    }
  };

  it("lets one role migrate a schema of its own, and the other serve it without owning it", async () => {
    const env = { BURSAR_DATABASE_SCHEMA: "payments", BURSAR_MASTER_KEY_FILE: keyFile };
    const print = async (option: string) => {
      const args = ["database", "roles", option, "--owner", roles.owner, "--service", roles.service];
      const { code, output } = await runBursar(args, env);
      expect(code).toBe(0);
      return output;
    };
    await database.run(await print("--create-only"));
    for (const role of Object.values(roles)) await database.run(`ALTER ROLE ${role} PASSWORD 'test'`);
    const migrated = await runBursar(["migrate"], { ...env, DATABASE_URL: asRole(roles.owner) });
    expect([migrated.code, migrated.output]).toEqual([0, expect.any(String)]);
    await runAs(asRole(roles.owner), await print("--grants-only"));

    expect(await serveAs(roles.service)).not.toContain("owns its tables");
    // Written before the service is ready, so it would have been there.
    const warning = (await serveAs(roles.owner)).split("\n").find((line) => line.includes("owns its tables"));
    expect(JSON.parse(warning ?? "{}")).toMatchObject({ level: 40, role: roles.owner });
  });

  it("prints one part or the other, not both", async () => {
    const { code, output } = await runBursar(["database", "roles", "--create-only", "--grants-only"], {});
    expect([code, output]).toEqual([2, expect.stringContaining("cannot be used with")]);
  });
});
