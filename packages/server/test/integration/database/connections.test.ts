import { rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import pino from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../../src/embedded/embedded-postgres.js";
import { type Database, type DatabaseOptions, openDatabase } from "../../../src/store/core/database.js";
import { DatabaseUnavailableError } from "../../../src/store/core/database-unavailable-error.js";
import { migrate } from "../../../src/store/core/schema/migrate.js";
import { readMigrations } from "../../../src/store/core/schema/migrations.js";
import { sql } from "../../../src/store/core/sql.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { createTcpProxy, type TcpProxy } from "../../harness/http/tcp-proxy.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

describe("a connection to the database", () => {
  let direct: TestDatabase;
  const opened: Database[] = [];
  const open = (url: string, more: Partial<DatabaseOptions> = {}) => {
    const database = openDatabase({ url, connectionsMax: 1, ...more });
    opened.push(database);
    return database;
  };
  beforeEach(async () => {
    direct = await createTestDatabase("empty");
  });
  afterEach(async () => {
    for (const database of opened.splice(0)) await database.close();
    await direct.drop();
  });

  const alter = (setting: string, value: string) =>
    direct.run(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${setting} = ${value}', current_database()); END $$`,
    );
  const shown = async (database: Database, name: string) => {
    const [row] = await database.query<{ value: string }>(sql`SELECT current_setting(${name}) AS value`);
    return row?.value;
  };

  it("keeps its timeouts and its plans if the URL has options of its own", async () => {
    const url = new URL(direct.url);
    url.searchParams.set("options", "-c statement_timeout=0 -c work_mem=5MB -c enable_seqscan=on");
    const database = open(url.href);
    expect(await shown(database, "statement_timeout")).toBe("14s");
    expect(await shown(database, "idle_in_transaction_session_timeout")).toBe("10s");
    expect(await shown(database, "enable_seqscan")).toBe("off");
    expect(await shown(database, "work_mem")).toBe("5MB");
  });

  it.each([
    ["array_nulls", "off", "on"],
    ["DateStyle", "''German''", "ISO, MDY"],
    ["IntervalStyle", "iso_8601", "postgres"],
    ["TimeZone", "''Asia/Tokyo''", "UTC"],
    ["bytea_output", "escape", "hex"],
    ["standard_conforming_strings", "off", "on"],
    ["default_transaction_isolation", "''serializable''", "read committed"],
    ["synchronous_commit", "off", "on"],
    ["synchronous_commit", "remote_apply", "remote_apply"],
    ["search_path", "pg_catalog", '"public", pg_temp'],
    ["lock_timeout", "1", "0"],
    ["idle_session_timeout", "60", "0"],
  ])("sets %s itself if the database has %s", async (name, value, kept) => {
    await alter(name, value);
    expect(await shown(open(direct.url), name)).toBe(kept);
  });

  it("reads and writes the same values whatever the defaults of its role are", async () => {
    const read = async (database: Database) => {
      const rows = await database.query(sql`
        SELECT ${[null, "a"]}::text[] AS list, ${new Date(0)}::timestamptz AS time, ${"\\"}::text AS text,
          ${Buffer.from([0, 92])}::bytea AS bytes, interval '1 day' AS span, '1970-01-01'::timestamptz AS day
      `);
      return rows;
    };
    const expected = await read(direct);
    for (const [name, value] of [
      ["array_nulls", "off"],
      ["DateStyle", "''SQL, DMY''"],
      ["IntervalStyle", "sql_standard"],
      ["TimeZone", "''Asia/Tokyo''"],
      ["bytea_output", "escape"],
    ] as const)
      await alter(name, value);
    expect(await read(open(direct.url))).toEqual(expected);
  });

  it("is replaced if its session has lost the prepared statements, as behind a pooler that was reconfigured", async () => {
    const database = open(direct.url, { connectionsMax: 1 });
    const read = () => database.query(sql`SELECT 1 AS one`);
    await read();
    await database.session((session) => session.script("DEALLOCATE ALL"));
    await expect(read()).rejects.toThrow(DatabaseUnavailableError);
    expect(await read()).toEqual([{ one: 1 }]);
  });

  it("writes nothing of a transaction that could not begin", async () => {
    const database = open(direct.url, { connectionsMax: 1 });
    await direct.run("CREATE TABLE notes (note text)");
    await database.transaction(async () => undefined);
    await database.session((session) => session.script("DEALLOCATE ALL"));
    const writing = database.transaction(async (tx) => {
      tx.send(sql`INSERT INTO notes (note) VALUES ('one')`);
      await new Promise(setImmediate);
      tx.send(sql`INSERT INTO notes (note) VALUES ('two')`);
    });
    await expect(writing).rejects.toThrow(DatabaseUnavailableError);
    // Statements that were sent nevertheless have been executed by then.
    await direct.query(sql`SELECT pg_sleep(0.2)`);
    expect(await direct.query(sql`SELECT note FROM notes`)).toEqual([]);
  });

  it("still has its timeout after a migration", async () => {
    const database = open(direct.url, { connectionsMax: 1 });
    await migrate(database, readMigrations());
    expect(await shown(database, "statement_timeout")).toBe("14s");
  });

  it("uses the schema that is configured", async () => {
    await direct.run("CREATE SCHEMA money");
    await migrate(open(direct.url, { schema: "money" }), readMigrations());
    const rows = await direct.query(
      sql`SELECT DISTINCT schemaname FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    expect(rows).toEqual([{ schemaname: "money" }]);
  });

  it("is refused in one sentence if the URL requires TLS and the server does not offer it", async () => {
    const url = new URL(direct.url);
    url.searchParams.set("sslmode", "require");
    const refused = await open(url.href)
      .query(sql`SELECT 1`)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(DatabaseUnavailableError);
    expect(((refused as Error).cause as Error).message).toBe(
      `database_url has sslmode=require, but the server at ${url.hostname}:${url.port} does not offer TLS. Set ssl = on in its postgresql.conf, or use sslmode=disable on a network that you trust.`,
    );
  });
});

/** The messages of a server that is ready, and of one that ends a connection because an administrator wants it. */
const ready = [
  message("R", Buffer.from([0, 0, 0, 0])),
  message("Z", Buffer.from("I")),
  message("E", Buffer.from("SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0")),
];

function message(type: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

describe("a server that ends a connection as soon as it is made", () => {
  it("is unavailable, and the process goes on", async () => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => socket.end(Buffer.concat(ready)));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const database = openDatabase({ url: `postgres://bursar@127.0.0.1:${port}/bursar`, connectionsMax: 2 });
    for (let n = 0; n < 3; n++)
      await expect(database.query(sql`SELECT 1`)).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await database.close();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe("a database URL with several servers", () => {
  let direct: TestDatabase;
  let standby: EmbeddedPostgres;
  let proxy: TcpProxy;
  let database: Database | undefined;
  const folder = createTemporaryFolder("second-server");
  /** A second server that takes no writes, with the same database, role and password. */
  beforeAll(async () => {
    direct = await createTestDatabase("empty");
    const { pathname, password } = new URL(direct.url);
    standby = await startEmbeddedPostgres({
      dataDir: folder,
      log: pino({ level: "silent" }),
      onLost: () => undefined,
    });
    const admin = openDatabase({ url: standby.url, connectionsMax: 1 });
    for (const script of [
      `CREATE DATABASE ${pathname.slice(1)}`,
      `ALTER DATABASE ${pathname.slice(1)} SET default_transaction_read_only = on`,
      `ALTER ROLE bursar PASSWORD '${password}'`,
    ])
      await admin.session((session) => session.script(script));
    await admin.close();
    const { hostname, port } = new URL(direct.url);
    proxy = await createTcpProxy({ host: hostname, port: Number(port) });
  });
  afterEach(async () => {
    await database?.close();
    database = undefined;
  });
  afterAll(async () => {
    await proxy.cut();
    await standby.stop();
    await direct.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = (ports: readonly (string | number)[], parameters = "") => {
    const url = new URL(direct.url);
    const hosts = ports.map((port) => `${url.hostname}:${port}`).join(",");
    database = openDatabase({
      url: `postgres://${url.username}:${url.password}@${hosts}${url.pathname}${parameters}`,
      connectionsMax: 3,
    });
    return database;
  };
  const portOf = (url: string) => new URL(url).port;
  const servedBy = async (one: Database) =>
    (await one.query<{ port: number }>(sql`SELECT inet_server_port() AS port`))[0]?.port;

  it("is served by the first one that takes writes", async () => {
    const unused = 1;
    const one = open([unused, portOf(standby.url), portOf(direct.url)]);
    const ports = await Promise.all(Array.from({ length: 5 }, () => servedBy(one)));
    expect(new Set(ports)).toEqual(new Set([Number(portOf(direct.url))]));
    await one.query(sql`CREATE TABLE IF NOT EXISTS written ()`);
  });

  it("is unavailable if none takes writes", async () => {
    const none = open([portOf(standby.url), 1], "?target_session_attrs=read-write");
    await expect(none.query(sql`SELECT 1`)).rejects.toBeInstanceOf(DatabaseUnavailableError);
  });

  it("is served by the next one if the one in use goes away", async () => {
    const one = open([proxy.port, portOf(direct.url)]);
    expect(await servedBy(one)).toBe(Number(portOf(direct.url)));
    await proxy.cut();
    // The connection in use is lost once; then the next server answers.
    await one.query(sql`SELECT 1`).catch(() => undefined);
    expect(await servedBy(one)).toBe(Number(portOf(direct.url)));
  });
});
