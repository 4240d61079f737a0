import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Database, isStatementTimeout, openDatabase } from "../../../src/store/core/database.js";
import { DatabaseUnavailableError } from "../../../src/store/core/database-unavailable-error.js";
import { sql } from "../../../src/store/core/sql.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";
import { eventually } from "../../harness/eventually.js";
import { createTcpProxy, type TcpProxy } from "../../harness/http/tcp-proxy.js";

describe("the pool", () => {
  let direct: TestDatabase;
  let proxy: TcpProxy;
  let database: Database;
  beforeEach(async () => {
    direct = await createTestDatabase("empty");
    await direct.run("CREATE TABLE things (name text PRIMARY KEY)");
    const url = new URL(direct.url);
    proxy = await createTcpProxy({ host: url.hostname, port: Number(url.port) });
    url.port = String(proxy.port);
    database = openDatabase({ url: url.href, connectionsMax: 3 });
  });
  afterEach(async () => {
    await database.close();
    await proxy.cut();
    await direct.drop();
  });

  const insert = (name: string) => sql`INSERT INTO things VALUES (${name})`;
  const names = async () =>
    (await direct.query<{ name: string }>(sql`SELECT name FROM things ORDER BY name`)).map((row) => row.name);

  it("commits if the callback resolves and rolls back if it rejects", async () => {
    await database.transaction((tx) => tx.query(insert("kept")));
    const failing = database.transaction(async (tx) => {
      await tx.query(insert("lost"));
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    await expect(database.transaction((tx) => tx.query(insert("kept")))).rejects.toMatchObject({
      code: "23505",
    });
    expect(await names()).toEqual(["kept"]);
  });

  it("commits nothing if a statement that was sent without waiting fails, and reports that statement", async () => {
    await database.query(insert("there"));
    for (const last of [undefined, insert("too late")]) {
      const failing = database.transaction(async (tx) => {
        tx.afterCommit(() => expect.unreachable());
        tx.send(insert("lost"));
        tx.send(insert("there"));
        tx.send(insert("lost as well"));
        if (last !== undefined) await tx.query(last);
      });
      await expect(failing).rejects.toMatchObject({ code: "23505" });
    }
    const told: string[] = [];
    await database.transaction(async (tx) => {
      tx.afterCommit(() => told.push("committed"));
      tx.send(insert("sent"));
    });
    expect(told).toEqual(["committed"]);
    expect(await names()).toEqual(["sent", "there"]);
  });

  it("survives the loss of a connection at every point of a transaction, which is rolled back", async () => {
    const lost = database.transaction(async (tx) => {
      await tx.query(insert("half"));
      await proxy.cut();
      // The connection is lost between two statements; the next statement must be refused, and so must the rollback.
      await new Promise((resolve) => setTimeout(resolve, 50));
      await tx.query(insert("other half"));
    });
    await expect(lost).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await expect(database.query(sql`SELECT 1`)).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await proxy.restore();
    expect(await database.query(sql`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
    expect(await names()).toEqual([]);
  });

  it("counts as unavailable if no row is at fault, keeps its connection, and refuses what is wrong with a row", async () => {
    await direct.run(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = NEW.name; END $$;
      CREATE TRIGGER refuse BEFORE INSERT ON things FOR EACH ROW EXECUTE FUNCTION refuse();
    `);
    const pid = async () => await database.query(sql`SELECT pg_backend_pid() AS pid`);
    const before = await pid();
    for (const state of ["53100", "53200", "58030", "40001", "40P01", "55P03"]) {
      await expect(database.query(insert(state))).rejects.toBeInstanceOf(DatabaseUnavailableError);
      const writing = database.transaction((tx) => tx.query(insert(state)));
      await expect(writing).rejects.toBeInstanceOf(DatabaseUnavailableError);
    }
    expect(await pid()).toEqual(before);
    await expect(database.query(insert("23514"))).rejects.toMatchObject({ code: "23514" });
    expect(await database.query(sql`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
  });

  it("fails every waiting query when the connections are cut under load, and recovers", async () => {
    const waiting = Array.from({ length: 50 }, () =>
      database.query(sql`SELECT pg_sleep(10)`).catch((error: unknown) => error),
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    await proxy.cut();
    const outcomes = await Promise.all(waiting);
    expect(outcomes.every((outcome) => outcome instanceof DatabaseUnavailableError)).toBe(true);
    await proxy.restore();
    await eventually(
      () =>
        database.query(sql`SELECT 1`).then(
          () => true,
          () => false,
        ),
      Boolean,
    );
  });

  it("says that a statement took too long, which an unavailable server does not say", async () => {
    const impatient = openDatabase({ url: direct.url, connectionsMax: 1, statementTimeoutMs: 1100 });
    const slow = await impatient.query(sql`SELECT pg_sleep(60)`).catch((error: unknown) => error);
    expect([slow instanceof DatabaseUnavailableError, isStatementTimeout(slow)]).toEqual([true, true]);
    await impatient.close();
    await proxy.cut();
    const gone = await database.query(sql`SELECT 1`).catch((error: unknown) => error);
    expect([gone instanceof DatabaseUnavailableError, isStatementTimeout(gone)]).toEqual([true, false]);
  });

  it("distinguishes a statement that the server refuses from an unavailable server", async () => {
    await expect(database.query(sql`SELECT 1/0`)).rejects.toMatchObject({ code: "22012" });
    const killed = database.session(async (session) => {
      const [row] = await session.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
      await direct.query(sql`SELECT pg_terminate_backend(${row?.pid})`);
      await session.query(sql`SELECT 1`);
    });
    await expect(killed).rejects.toBeInstanceOf(DatabaseUnavailableError);
  });
});
