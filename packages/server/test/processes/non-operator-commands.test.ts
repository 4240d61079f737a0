import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { showId } from "@bursar/protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sql } from "../../src/store/core/sql.js";
import { dumpDatabase } from "../harness/database/dump-database.js";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

/**
 * The operator's command line is not limited, so it must work only for the operator: a caller without the master key, or without the
 * database, must not become an approver by it.
 */
describe("the command line of a caller who is not the operator", () => {
  const folder = createTemporaryFolder("non-operator");
  const [ownKey, otherKey] = [join(folder, "master.key"), join(folder, "other.key")];
  const policyFile = join(folder, "policy.json");
  let database: TestDatabase;
  let tenantId: string;
  let clientId: string;
  let personId: string;
  let keyId: string;
  let walletId: string;

  const run = async (args: string[], env: Record<string, string>) => {
    const bursar = spawnBursar({ args, env: { BURSAR_DATA_DIR: join(folder, "none"), ...env } });
    const { code } = await bursar.exited;
    return { code, output: bursar.output() };
  };

  beforeAll(async () => {
    database = await createTestDatabase();
    for (const file of [ownKey, otherKey])
      writeFileSync(file, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    writeFileSync(policyFile, JSON.stringify({ rules: [], default: { action: "allow" } }));
    const env = { DATABASE_URL: database.url, BURSAR_MASTER_KEY_FILE: ownKey };
    const { output } = await run(["tenant", "create", "victim"], env);
    const fieldOf = (name: string) => new RegExp(`^${name} +(\\S+)$`, "m").exec(output)?.[1] ?? "";
    [tenantId, clientId] = [fieldOf("tenant_id"), fieldOf("client_id")];
    expect(clientId).toMatch(/^cli_/);
    const as = async (...args: string[]) => {
      const done = await run(args, env);
      expect(done).toMatchObject({ code: 0 });
      return done.output;
    };
    // What each command would undo or use.
    const invited = await as("people", "invite", "ada@example.com", "--role", "viewer", "--tenant", tenantId);
    personId = /cli_\w{26}/.exec(invited)?.[0] ?? "";
    keyId = /key_\w{26}/.exec(await as("keys", "rotate"))?.[0] ?? "";
    const [wallet] = await database.query<{ id: string }>(
      sql`SELECT id FROM wallets WHERE role = 'primary' LIMIT 1`,
    );
    walletId = showId("wlt", wallet?.id ?? "");
    await as("policy", "set", tenantId, "--file", policyFile);
    await as("client", "disable", clientId);
    await as("tenant", "suspend", tenantId);
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  const commands: Record<string, () => string[]> = {
    "create a client": () => ["client", "create", tenantId, "mine", "--scope", "transactions:approve"],
    "reset a client": () => ["client", "reset", clientId],
    "rotate a secret": () => ["client", "rotate", clientId],
    "restore a client": () => ["client", "restore", clientId, "--scope", "transactions:approve"],
    "replace the policy": () => ["policy", "set", tenantId, "--file", policyFile],
    "opt a tenant out": () => ["tenant", "set", tenantId, "--single-administrator", "on"],
    "enable a client": () => ["client", "enable", clientId],
    "reset the policy": () => ["policy", "reset", tenantId],
    "resume a tenant": () => ["tenant", "resume", tenantId],
    "invite a person": () => [
      "people",
      "invite",
      "mine@example.com",
      "--role",
      "admin",
      "--tenant",
      tenantId,
    ],
    "enable a person": () => ["people", "enable", personId],
    "recover a person": () => ["people", "recover", personId],
    "fund a wallet": () => ["fund", walletId, "USD", "1000", "--key", "mine"],
    "revoke a signing key": () => ["keys", "revoke", keyId],
    "adopt the database": () => ["keys", "adopt"],
  };

  it.each(Object.entries(commands))("cannot %s without the master key", async (_name, argsOf) => {
    const before = await dumpDatabase(database.url);
    const { code, output } = await run(argsOf(), { DATABASE_URL: database.url });
    expect([code, output]).toEqual([expect.any(Number), expect.stringContaining("BURSAR_MASTER_KEY_FILE")]);
    expect(code).not.toBe(0);
    expect(await dumpDatabase(database.url)).toBe(before);
  });

  it.each(Object.entries(commands))("cannot %s with a master key of its own", async (name, argsOf) => {
    const before = await dumpDatabase(database.url);
    const env = { DATABASE_URL: database.url, BURSAR_MASTER_KEY_FILE: otherKey };
    const { code } = await run(argsOf(), env);
    // Adopting does nothing to a database that has keys, and says so.
    if (name !== "adopt the database") expect(code).not.toBe(0);
    expect(await dumpDatabase(database.url)).toBe(before);
  });

  it("cannot reach anything without the database", async () => {
    const { code, output } = await run(["client", "reset", clientId], { BURSAR_MASTER_KEY_FILE: ownKey });
    expect(code).not.toBe(0);
    expect(output).not.toContain("client_secret");
  });
});
