import { rmSync } from "node:fs";
import pino from "pino";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../../src/embedded/embedded-postgres.js";
import { assertWritable } from "../../../src/store/core/connection/wait-for-database.js";
import { type Database, openDatabase, type Queryable } from "../../../src/store/core/database.js";
import { DatabaseUnavailableError } from "../../../src/store/core/database-unavailable-error.js";
import { confirmCommits, findByKey } from "../../../src/store/core/rows/insert-or-find.js";
import { sql } from "../../../src/store/core/sql.js";
import { eventually } from "../../harness/eventually.js";
import { createTemporaryFolder } from "../../harness/temporary-folder.js";

describe("commits that wait for a synchronous standby that does not answer", () => {
  const connectionsMax = 3;
  const folder = createTemporaryFolder("hanging-commits");
  let postgres: EmbeddedPostgres;
  let admin: Database;
  let database: Database;
  beforeAll(async () => {
    const log = pino({ level: "silent" });
    postgres = await startEmbeddedPostgres({ dataDir: folder, log, onLost: () => undefined });
    admin = openDatabase({ url: postgres.url, connectionsMax: 1 });
    await admin.query(sql`CREATE TABLE things (name text)`);
  });
  afterEach(async () => {
    await setStandby("");
    await database.close();
  });
  afterAll(async () => {
    await admin.close();
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A name that never connects: every commit waits for it. */
  const setStandby = async (name: string) => {
    await admin.session(async (session) => {
      await session.script(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await session.script("SELECT pg_reload_conf()");
    });
    await eventually(
      () => admin.query<{ name: string }>(sql`SELECT current_setting('synchronous_standby_names') AS name`),
      ([row]) => row?.name === name,
    );
    // The checkpointer says whether commits wait at all. It reads its settings before each checkpoint.
    await admin.session((session) => session.script("CHECKPOINT"));
  };
  const countBackends = async () => {
    const rows = await admin.query(sql`SELECT FROM pg_stat_activity WHERE application_name = 'bursar'`);
    // Without the connection that asks.
    return rows.length - 1;
  };
  const write = (name: string) =>
    database.transaction((tx) => tx.query(sql`INSERT INTO things VALUES (${name})`));
  const isWritable = () =>
    assertWritable(database).then(
      () => true,
      () => false,
    );

  it("leave a bounded number of backends behind, and the service not ready until they end", async () => {
    database = openDatabase({
      url: postgres.url,
      connectionsMax,
      statementTimeoutMs: 2000,
      connectTimeoutMs: 1000,
    });
    await write("before");
    expect(await isWritable()).toBe(true);
    await setStandby("nobody");
    let backendsMost = 0;
    for (let round = 0; round < 5; round++) {
      const outcomes = await Promise.allSettled(
        Array.from({ length: connectionsMax }, (_, index) => write(`${round} ${index}`)),
      );
      for (const outcome of outcomes)
        expect(outcome.status === "rejected" && outcome.reason).toBeInstanceOf(DatabaseUnavailableError);
      backendsMost = Math.max(backendsMost, await countBackends());
    }
    expect(backendsMost).toBeLessThanOrEqual(2 * connectionsMax);
    expect(await isWritable()).toBe(false);
    await setStandby("");
    await eventually(isWritable, (value) => value);
    await write("after");
    await eventually(countBackends, (count) => count <= connectionsMax);
  });

  it("have an unknown outcome if their wait is cancelled, because the standby does not have them", async () => {
    database = openDatabase({ url: postgres.url, connectionsMax });
    await write("before");
    await setStandby("nobody");
    const outcomes = [
      write("in a transaction"),
      database.query(sql`INSERT INTO things VALUES ('alone')`),
    ].map((answer) =>
      answer.then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    let cancelled = 0;
    await eventually(
      async () => {
        const waiting = await admin.query(
          sql`SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> pg_backend_pid()`,
        );
        cancelled += waiting.length;
        return cancelled;
      },
      (count) => count >= 2,
    );
    for (const outcome of await Promise.all(outcomes))
      expect(outcome).toBeInstanceOf(DatabaseUnavailableError);
    await setStandby("");
    await write("after");
  });

  it("keep the answer about a row that they have made visible waiting", async () => {
    database = openDatabase({ url: postgres.url, connectionsMax, statementTimeoutMs: 2000 });
    const repeat = () => confirmCommits(database).then(() => "confirmed");
    expect(await repeat()).toBe("confirmed");
    await setStandby("nobody");
    await expect(repeat()).rejects.toBeInstanceOf(DatabaseUnavailableError);
  });

  it("keep the answer to a repeated key waiting, whether it is looked up in a transaction or not", async () => {
    const tenantId = "018f0000-0000-7000-8000-000000000001";
    await admin.query(sql`CREATE TABLE keyed (tenant_id uuid, idempotency_key text, request_hash bytea)`);
    await admin.query(sql`INSERT INTO keyed VALUES (${tenantId}, 'key', '\\x01')`);
    database = openDatabase({ url: postgres.url, connectionsMax, statementTimeoutMs: 2000 });
    const table = { columns: sql`tenant_id`, table: sql`keyed` };
    const find = (source: Queryable) => findByKey(source, table, tenantId, "key");
    expect(await find(database)).toMatchObject({ requestHash: "01" });
    await setStandby("nobody");
    await expect(find(database)).rejects.toBeInstanceOf(DatabaseUnavailableError);
    await expect(database.transaction(find)).rejects.toBeInstanceOf(DatabaseUnavailableError);
    expect(await findByKey(database, table, tenantId, "other key")).toBeUndefined();
  });
});
