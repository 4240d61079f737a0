import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createBursar } from "@bursar/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { blocksOf } from "../harness/document-blocks.js";
import { runBursar, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

const bursarBin = fileURLToPath(new URL("../../bin/bursar.mjs", import.meta.url));

describe("the retention of the audit log", () => {
  const folder = createTemporaryFolder("retention");
  let database: TestDatabase;
  let env: Record<string, string>;
  let client: { id: string; secret: string };
  beforeAll(async () => {
    database = await createTestDatabase();
    const keyFile = join(folder, "master.key");
    writeFileSync(keyFile, `${randomBytes(32).toString("base64")}\n`, { mode: 0o600 });
    env = { DATABASE_URL: database.url, OWNER_DATABASE_URL: database.url, BURSAR_MASTER_KEY_FILE: keyFile };
    mkdirSync(join(folder, "bin"));
    symlinkSync(bursarBin, join(folder, "bursar"));
    const { output } = await runBursar(["tenant", "create", "Acme"], env);
    client = { id: /cli_\w{26}/.exec(output)?.[0] ?? "", secret: /bsk_\S+/.exec(output)?.[0] ?? output };
  });
  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  /** A service that runs for a moment signs the end of the log when it stops. */
  const serve = async <T>(work: (url: string) => Promise<T>): Promise<T> => {
    const bursar = spawnBursar({ args: ["serve"], env });
    try {
      return await work(await bursar.ready());
    } finally {
      bursar.child.kill("SIGTERM");
      await bursar.exited;
    }
  };
  /** Runs the script of the page, as if 90 days had passed and it were this many days later. */
  const runPage = async (daysLater: number) => {
    const day = new Date(Date.now() + (daysLater + 1) * 86_400_000).toISOString().slice(0, 10);
    writeFileSync(join(folder, "bin", "date"), `#!/bin/sh\necho ${day}\n`, { mode: 0o755 });
    const script = blocksOf("docs/operating/audit.md", "sh")[0] ?? "";
    const { stdout } = await promisify(execFile)("sh", ["-ec", script], {
      env: { ...env, PATH: `${join(folder, "bin")}:${process.env["PATH"]}` },
      cwd: folder,
    });
    return { stdout, file: join(folder, `audit-acme-${day}.jsonl`) };
  };
  const readAudit = (url: string) => () =>
    createBursar({ baseUrl: url, credentials: { clientId: client.id, secret: client.secret } })
      .audit.list()
      .page();

  it("works as the page describes it, twice, and `GET /v1/audit` says what was removed", async () => {
    expect((await serve((url) => readAudit(url)())).removed_to).toBeNull();
    const first = await runPage(0);
    const removed = Number(/entries 1 to (\d+) are removed/.exec(first.stdout)?.[1]);
    expect(removed).toBeGreaterThan(0);
    const page = await serve((url) => readAudit(url)());
    expect(page.removed_to).toBe(removed);
    expect(page.data.map(({ number }) => number)).toContain(removed + 1);
    expect(page.data.map(({ number }) => number)).not.toContain(removed);
    const second = await runPage(1);
    expect(second.stdout).toContain(`entries ${removed + 1} to`);
    const verified = await runBursar(["audit", "verify", "--file", second.file, first.file], env);
    expect(verified).toMatchObject({ code: 0 });
    // Without the first file nothing is wrong with the second; without the second, removed entries are missing.
    expect(await runBursar(["audit", "verify", "--file", second.file], env)).toMatchObject({ code: 0 });
    const gap = await runBursar(["audit", "verify", "--file", first.file], env);
    expect(gap.code).toBe(1);
    expect(gap.output).toContain("were removed from the database, and are in none of the files");
    writeFileSync(first.file, readFileSync(first.file, "utf8").replace("tenant.create", "tenant.forget"));
    const edited = await runBursar(["audit", "verify", "--file", first.file, second.file], env);
    expect(edited.code).toBe(1);
    expect(edited.output).toContain("entry 1 was changed");
    const missing = await runBursar(["audit", "prune", "--tenant", "Acme", "--file", "no-such-file"], env);
    expect(missing.output).toMatch(/^bursar: The file no-such-file cannot be used: ENOENT/);
  });
});
