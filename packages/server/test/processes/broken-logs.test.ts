import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { runBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

describe("`bursar keys reseal` with an audit log from which an entry was removed", () => {
  const folder = createTemporaryFolder("broken-logs");
  const keyFile = join(folder, "master.key");
  let database: TestDatabase;
  let tenantId: string;

  const run = (...args: string[]) =>
    runBursar(args, { DATABASE_URL: database.url, BURSAR_MASTER_KEY_FILE: keyFile });
  const keys = () => readFileSync(keyFile, "utf8").trim().split("\n");
  const useKeys = (list: readonly string[]) =>
    writeFileSync(keyFile, `${list.join("\n")}\n`, { mode: 0o600 });
  const addKey = () => useKeys([randomBytes(32).toString("base64"), ...keys()]);
  const dropOldKeys = () => useKeys(keys().slice(0, 1));

  beforeAll(async () => {
    database = await createTestDatabase();
    useKeys([randomBytes(32).toString("base64")]);
    const { output } = await run("tenant", "create", "Broken");
    tenantId = /tnt_\w{26}/.exec(output)?.[0] ?? output;
    await run("client", "create", tenantId, "first", "--scope", "wallets:read");
    addKey();
    expect(await run("keys", "reseal")).toMatchObject({ code: 0 });
    dropOldKeys();
    await run("client", "create", tenantId, "second", "--scope", "wallets:read");
    // The owner of the tables hides the first client that was created.
    await database.run(`
      BEGIN; SET LOCAL bursar.audit_prune = on;
      DELETE FROM audit_entries WHERE tenant_id = '${readId("tnt", tenantId)}' AND number = 2; COMMIT`);
    addKey();
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  it("fails and names the place, and with --accept-broken-logs ends the old key there too", async () => {
    const place = `${tenantId} at entry 3.`;
    const notNeeded = "The other master keys are not needed any more";
    const refused = await run("keys", "reseal");
    expect(refused).toEqual({ code: 1, output: expect.stringContaining(place) });
    expect(refused.output).toContain("add `--accept-broken-logs`");
    expect(refused.output).not.toContain(notNeeded);
    const accepted = await run("keys", "reseal", "--accept-broken-logs");
    expect(accepted).toEqual({ code: 0, output: expect.stringContaining(place) });
    expect(accepted.output).toContain("Continued with this key: 1 audit logs.");
    expect(accepted.output).toContain(notNeeded);
    // The old key is not needed, and nothing is left to accept.
    dropOldKeys();
    expect(await run("client", "create", tenantId, "third", "--scope", "wallets:read")).toMatchObject({
      code: 0,
    });
    const again = await run("keys", "reseal");
    expect(again).toEqual({ code: 0, output: expect.stringContaining(notNeeded) });
    // What was removed stays visible.
    expect(await run("audit", "verify")).toEqual({
      code: 1,
      output: expect.stringContaining("entry 2 is missing"),
    });
  });
});
