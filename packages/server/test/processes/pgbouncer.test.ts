import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { freePort } from "../../src/embedded/free-port.js";
import { openDatabase } from "../../src/store/core/database.js";
import { sql } from "../../src/store/core/sql.js";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import { type BursarProcess, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

const isInstalled = spawnSync("pgbouncer", ["--version"]).status === 0;
if (!isInstalled) process.stderr.write("skipped: PgBouncer, because it is not installed\n");

describe.skipIf(!isInstalled)("a database behind PgBouncer", () => {
  let database: TestDatabase;
  const processes: ChildProcess[] = [];
  const started: BursarProcess[] = [];
  const folder = createTemporaryFolder("pgbouncer");
  chmodSync(folder, 0o755);
  const masterKeyFile = join(folder, "master.key");
  writeFileSync(masterKeyFile, randomBytes(32).toString("hex"), { mode: 0o600 });
  beforeEach(async () => {
    database = await createTestDatabase("empty");
  });
  afterEach(async () => {
    for (const { child, exited } of started.splice(0)) {
      child.kill("SIGKILL");
      await exited;
    }
    for (const child of processes.splice(0)) child.kill("SIGKILL");
    await database.drop();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** Starts PgBouncer with its defaults, and returns the URL of the database through it. */
  async function startPgBouncer(poolMode: string): Promise<string> {
    const { hostname, port, username, password, pathname } = new URL(database.url);
    const ownPort = await freePort();
    const file = join(folder, `${poolMode}.ini`);
    writeFileSync(
      file,
      `[databases]
* = host=${hostname} port=${port} user=${username} password=${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = any
pool_mode = ${poolMode}
`,
    );
    // PgBouncer refuses to run as root.
    const account = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
    const child = spawn("pgbouncer", [...account, file], { stdio: "ignore" });
    processes.push(child);
    const url = `postgres://${username}@127.0.0.1:${ownPort}${pathname}`;
    await eventually(
      () => isListening(ownPort),
      (value) => value,
    );
    return url;
  }

  const run = (args: string[], url: string) => {
    const bursar = spawnBursar({ args, env: { DATABASE_URL: url, BURSAR_MASTER_KEY_FILE: masterKeyFile } });
    started.push(bursar);
    return bursar;
  };

  it("in session mode is served, with the settings of a direct connection", async () => {
    const url = await startPgBouncer("session");
    const address = await run(["serve"], url).ready();
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    const pooled = openDatabase({ url, connectionsMax: 2 });
    const rows = await pooled.query(sql`
      SELECT current_setting('statement_timeout') AS statement, current_setting('enable_seqscan') AS scans,
        current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('application_name') AS name
    `);
    await pooled.close();
    expect(rows).toEqual([{ statement: "14s", scans: "off", idle: "10s", name: "bursar" }]);
  });

  it.each(["transaction", "statement"])("in %s mode is refused in one sentence", async (mode) => {
    const url = await startPgBouncer(mode);
    for (const command of ["migrate", "serve"]) {
      const bursar = run([command], url);
      expect(await bursar.exited).toEqual({ code: 1, signal: null });
      expect(bursar.output()).toMatch(
        /^bursar: Connections to the database share their sessions, .*pool_mode = session .*\.$/m,
      );
    }
    expect(await database.query(sql`SELECT FROM pg_tables WHERE schemaname = 'public'`)).toEqual([]);
  });
});
