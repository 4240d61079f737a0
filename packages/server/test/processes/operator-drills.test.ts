import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { feeTenantId } from "@bursar/domain";
import { readId, showId } from "@bursar/protocol";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../src/store/core/sql.js";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import { runBursar, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

describe("a command on a database that no service has used yet", () => {
  const folder = createTemporaryFolder("operator-drills");
  const keyFile = join(folder, "master.key");
  writeFileSync(keyFile, randomBytes(32).toString("hex"), { mode: 0o600 });
  let database: TestDatabase;
  let env: Record<string, string>;
  beforeEach(async () => {
    database = await createTestDatabase();
    env = { DATABASE_URL: database.url, BURSAR_MASTER_KEY_FILE: keyFile };
  });
  afterEach(() => database.drop());
  afterAll(() => rmSync(folder, { recursive: true }));

  const fees = showId("tnt", feeTenantId);

  it.each([
    { first: "recover", args: ["recover", "--key", "drill"] },
    { first: "client create", args: ["client", "create", fees, "collector", "--scope", "audit:read"] },
  ])("`$first` begins the chain of the fee tenant, which `audit verify` finds intact", async ({ args }) => {
    expect((await runBursar(args, env)).code).toBe(0);
    const { code, output } = await runBursar(["audit", "verify"], env);
    expect([code, output]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^${fees} {2}2 entries {2}intact`, "m")),
    ]);
    const entries = await database.query<{ action: string }>(
      sql`SELECT action FROM audit_entries WHERE tenant_id = ${feeTenantId} ORDER BY number`,
    );
    expect(entries[0]).toEqual({ action: "tenant.create" });
  });

  it("`audit verify` names the payment of a rejection that somebody has added to the database", async () => {
    await runBursar(["tenant", "create", "other", "--key", "other"], env);
    const payment = "01890a5d-ac96-774b-bcce-b302099a8057";
    await database.query(sql`
      INSERT INTO approvals (tenant_id, transaction_id, version, client_id, decision, decided_at)
      VALUES (${feeTenantId}, ${payment}, 1, gen_random_uuid(), 'reject', now())`);
    const { code, output } = await runBursar(["audit", "verify"], env);
    expect([code, output]).toEqual([
      1,
      expect.stringContaining(`${showId("tx", payment)}  a decision (reject)`),
    ]);
  });

  it("`audit verify --since` reports an end that was cut off, which the database alone does not show", async () => {
    const { output: made } = await runBursar(["tenant", "create", "other", "--key", "other"], env);
    const tenantId = /tnt_\w{26}/.exec(made)?.[0] ?? "";
    const uuid = readId("tnt", tenantId) ?? "";
    const verify = (...args: string[]) => runBursar(["audit", "verify", ...args], env);
    // Somebody keeps the head of the log, and puts it back after an entry that must not be seen.
    await database.query(
      sql`CREATE TABLE kept AS SELECT number, hash, mac, key_id FROM audit_heads WHERE tenant_id = ${uuid}`,
    );
    await runBursar(["client", "create", tenantId, "unseen", "--scope", "audit:read"], env);
    const checkpoints = join(folder, "checkpoints.jsonl");
    writeFileSync(checkpoints, (await runBursar(["audit", "checkpoint"], env)).output);
    expect(await verify("--since", checkpoints)).toMatchObject({ code: 0 });
    await database.run(`
      ALTER TABLE audit_entries DISABLE TRIGGER ALL;
      DELETE FROM audit_entries WHERE tenant_id = '${uuid}' AND number > (SELECT number FROM kept);
      ALTER TABLE audit_entries ENABLE TRIGGER ALL;
      UPDATE audit_heads h SET number = kept.number, hash = kept.hash, mac = kept.mac, key_id = kept.key_id
        FROM kept WHERE h.tenant_id = '${uuid}'`);
    expect(await verify()).toMatchObject({ code: 0 });
    const { code, output } = await verify("--since", checkpoints);
    expect(output).toMatch(new RegExp(`^${tenantId} .*its end was removed`, "m"));
    expect([code, output]).toEqual([
      1,
      expect.stringContaining("bursar: The audit log has been tampered with."),
    ]);
    for (const file of [keyFile, join(folder, "missing.jsonl")])
      expect(await verify("--since", file)).toMatchObject({ code: 1 });
  });

  it("ends when the reader of its output does, if it only reads", async () => {
    await runBursar(["tenant", "create", "other", "--key", "other"], env);
    const verify = spawnBursar({ args: ["audit", "verify"], env });
    // As `| head` does after its lines.
    verify.child.stdout?.destroy();
    expect([await verify.exited, verify.output()]).toEqual([{ code: 141, signal: null }, ""]);
    const create = spawnBursar({ args: ["tenant", "create", "third", "--key", "third"], env });
    create.child.stdout?.destroy();
    expect(await create.exited).toEqual({ code: 0, signal: null });
    expect((await runBursar(["tenant", "list"], env)).output).toContain("third");
  });

  it("that is killed does not let the server read on", async () => {
    await runBursar(["audit", "verify"], env);
    const readers = () =>
      database.query<{ pid: number }>(sql`
        SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock' AND query LIKE '%FROM audit_entries%'
      `);
    await database.transaction(async (tx) => {
      await tx.query(sql`LOCK TABLE audit_entries IN ACCESS EXCLUSIVE MODE`);
      const verify = spawnBursar({ args: ["audit", "verify"], env });
      await eventually(readers, (pids) => pids.length > 0);
      verify.child.kill("SIGKILL");
      await verify.exited;
      await eventually(readers, (pids) => pids.length === 0);
    });
  });
});
