import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { sql } from "../../src/store/core/sql.js";
import { createTestDatabase, type TestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import { createTcpProxy, type TcpProxy } from "../harness/http/tcp-proxy.js";
import { type BursarProcess, spawnBursar } from "../harness/service/bursar-process.js";
import { createTemporaryFolder } from "../harness/temporary-folder.js";

describe("an external database", () => {
  let database: TestDatabase;
  const started: BursarProcess[] = [];
  const folder = createTemporaryFolder("own-database");
  const masterKeyFile = join(folder, "master.key");
  writeFileSync(masterKeyFile, randomBytes(32).toString("hex"), { mode: 0o600 });
  afterAll(() => rmSync(folder, { recursive: true }));
  const run = (args: string[], url = database.url) => {
    const bursar = spawnBursar({ args, env: { DATABASE_URL: url, BURSAR_MASTER_KEY_FILE: masterKeyFile } });
    started.push(bursar);
    return bursar;
  };
  beforeEach(async () => {
    database = await createTestDatabase("empty");
  });
  afterEach(async () => {
    for (const { child, exited } of started.splice(0)) {
      child.kill("SIGKILL");
      await exited;
    }
    await database.drop();
  });

  const through = async (): Promise<{ proxy: TcpProxy; url: string }> => {
    const real = new URL(database.url);
    const proxy = await createTcpProxy({ host: real.hostname, port: Number(real.port) });
    real.port = String(proxy.port);
    return { proxy, url: real.href };
  };

  it("is migrated and served by several processes that start concurrently", async () => {
    const all = [run(["serve"]), run(["serve"]), run(["serve"])];
    for (const url of await Promise.all(all.map((bursar) => bursar.ready()))) {
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
    }
    const applied = all.flatMap((bursar) => [...bursar.output().matchAll(/"migrations":(\d+)/g)]);
    const stored = await database.query(sql`SELECT FROM schema_migrations`);
    expect(applied.map(([, count]) => Number(count))).toEqual([stored.length]);
  });

  it("is waited for, while the process reports that it is alive and not ready", async () => {
    const { proxy, url } = await through();
    await proxy.cut();
    const bursar = run(["serve"], url);
    await bursar.waitFor(/waiting for the database/);
    const [, address] = await bursar.waitFor(/Server listening at (http:[^"]+)"/);
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    const notReady = await fetch(`${address}/readyz`);
    expect([notReady.status, notReady.headers.get("retry-after")]).toEqual([503, "1"]);
    await proxy.restore();
    await bursar.ready();
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    await proxy.cut();
  });

  it("may become unavailable and recover", async () => {
    const { proxy, url } = await through();
    const address = await run(["serve"], url).ready();
    const status = async () => (await fetch(`${address}/readyz`)).status;
    expect(await status()).toBe(200);
    await proxy.cut();
    const gone = await fetch(`${address}/readyz`);
    expect(gone.status).toBe(503);
    expect(await gone.json()).toMatchObject({
      error: { code: "UNAVAILABLE", details: [{ path: "database" }] },
    });
    await proxy.restore();
    await eventually(status, (value) => value === 200);
    await proxy.cut();
  });

  it("may hang, which is reported within seconds", async () => {
    const { proxy, url } = await through();
    const address = await run(["serve"], url).ready();
    const status = async () => (await fetch(`${address}/readyz`)).status;
    expect(await status()).toBe(200);
    proxy.stall();
    expect(await status()).toBe(503);
    await proxy.cut();
    await proxy.restore();
    await eventually(status, (value) => value === 200);
    await proxy.cut();
  });

  it("is no longer waited for after a signal", async () => {
    const { proxy, url } = await through();
    await proxy.cut();
    const bursar = run(["serve"], url);
    await bursar.waitFor(/waiting for the database/);
    bursar.child.kill("SIGTERM");
    expect(await bursar.exited).toEqual({ code: 0, signal: null });
  });

  it("is used for all requests between a signal and the shutdown, while the service is not ready", async () => {
    const bursar = spawnBursar({
      args: ["serve"],
      env: {
        DATABASE_URL: database.url,
        BURSAR_MASTER_KEY_FILE: masterKeyFile,
        BURSAR_DRAIN_DELAY_MS: "15000",
      },
    });
    started.push(bursar);
    const url = await bursar.ready();
    bursar.child.kill("SIGTERM");
    await eventually(
      async () => (await fetch(`${url}/readyz`)).status,
      (status) => status === 503,
    );
    // New connections are accepted, and the database answers: an unknown client gets another answer than from a service that is down.
    const response = await fetch(`${url}/oauth/token`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", connection: "close" },
      body: "grant_type=client_credentials&client_id=cli_00000000000000000000000000&client_secret=x",
    });
    expect(response.status).toBe(401);
    expect(await bursar.exited).toEqual({ code: 0, signal: null });
  });

  const setReadOnly = async (value: "on" | "off") => {
    await database.run(
      `BEGIN READ WRITE;
       DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${value}', current_database()); END $$;
       COMMIT`,
    );
    await database.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
  };

  it("is waited for while it is read-only, and the service does not report itself as ready", async () => {
    const bursar = run(["serve"]);
    const url = await bursar.ready();
    const status = async () => {
      const answer = await fetch(`${url}/readyz`).catch((cause: unknown) => {
        throw new Error(`the service does not answer; it wrote:\n${bursar.output()}`, { cause });
      });
      return answer.status;
    };
    await setReadOnly("on");
    await eventually(status, (value) => value === 503);
    const second = run(["serve"]);
    await second.waitFor(/"reason":"the database is read-only".*waiting for the database/);
    second.child.kill("SIGTERM");
    expect(await second.exited).toEqual({ code: 0, signal: null });
    await setReadOnly("off");
    await eventually(status, (value) => value === 200);
  });

  it("is refused with one sentence if a privilege is missing", async () => {
    const role = `weak_${randomBytes(4).toString("hex")}`;
    await database.run(`CREATE ROLE ${role} LOGIN PASSWORD 'weak'`);
    try {
      const url = new URL(database.url);
      url.username = role;
      url.password = "weak";
      const bursar = run(["migrate"], url.href);
      expect(await bursar.exited).toEqual({ code: 1, signal: null });
      expect(bursar.output()).toMatch(
        /^bursar: The role in `database_url` lacks a privilege: migration 0001_\S+ failed: permission denied .*\.\n$/,
      );
    } finally {
      await database.run(`DROP ROLE ${role}`);
    }
  });

  it.each([
    [
      "sslmode=require",
      /^bursar: database_url has sslmode=require, but the server at \S+ does not offer TLS\..*$/m,
    ],
    ["target_session_attrs=standby", /^bursar: database_url has target_session_attrs=standby, which .*\.$/m],
    ["statement_timeout=0", /^bursar: database_url has the parameter statement_timeout, which .*\.$/m],
  ])("is refused in one sentence with %s in its URL", async (parameter, sentence) => {
    for (const command of ["serve", "migrate"]) {
      const bursar = run([command], `${database.url}?${parameter}`);
      expect(await bursar.exited).toEqual({ code: 1, signal: null });
      expect(bursar.output()).toMatch(sentence);
      expect(bursar.output()).not.toMatch(/^ +at /m);
    }
  });

  it("is refused if a commit can be lost", async () => {
    await database.run(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
    );
    const bursar = run(["serve"]);
    expect(await bursar.exited).toEqual({ code: 1, signal: null });
    expect(bursar.output()).toMatch(/^bursar: The database has synchronous_commit = off.*$/m);
  });

  it("is refused with a master key other than the one that sealed its keys", async () => {
    const first = run(["serve"]);
    await first.ready();
    first.child.kill("SIGTERM");
    await first.exited;
    const otherKey = join(folder, "other.key");
    writeFileSync(otherKey, randomBytes(32).toString("base64"), { mode: 0o600 });
    const second = spawnBursar({
      args: ["serve"],
      env: { DATABASE_URL: database.url, BURSAR_MASTER_KEY_FILE: otherKey },
    });
    started.push(second);
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.output()).toMatch(/^bursar: The master key does not decrypt the keys in this database/m);
  });

  it("is migrated by a command of its own", async () => {
    const first = run(["migrate"]);
    expect(await first.exited).toMatchObject({ code: 0 });
    expect(first.output()).toContain("applied 0001_schema_migrations.sql");
    const second = run(["migrate"]);
    await second.exited;
    expect(second.output()).toBe("the schema is up to date\n");
  });
});
