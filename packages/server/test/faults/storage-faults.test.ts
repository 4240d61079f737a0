import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chownSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, inject, it } from "vitest";
import { type Database, openDatabase } from "../../src/store/core/database.js";
import { sql } from "../../src/store/core/sql.js";
import { templateName, withDatabase } from "../harness/database/postgres-for-tests.js";
import type { TestDatabase } from "../harness/database/test-database.js";
import { eventually } from "../harness/eventually.js";
import { startTestService, type TestService } from "../harness/service/test-service.js";
import { transactionsOf } from "../harness/transactions/transactions-client.js";

const transfer = { reference: "fault", asset: "USD", amount: "1" };

/** The rows that recorded a failure, of all kinds. */
const countFailedRows = async (database: Database) => {
  const rows = await database.query(sql`
    SELECT id FROM open_transactions WHERE last_error IS NOT NULL OR attempts > 0 OR retry_at IS NOT NULL
    UNION ALL SELECT id FROM pending_deliveries WHERE last_error IS NOT NULL
  `);
  return rows.length;
};

describe("an error of the database that no row is at fault for", () => {
  let test: TestService;
  afterEach(() => test.stop());

  /** While there is a row in `faults`, every write to the table fails with its SQLSTATE. */
  const failWrites = (table: string) =>
    test.database.run(`
      CREATE TABLE faults (state text);
      CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        DECLARE found_state text := (SELECT state FROM faults LIMIT 1);
        BEGIN
          IF found_state IS NOT NULL THEN RAISE EXCEPTION 'injected' USING ERRCODE = found_state; END IF;
          RETURN NULL;
        END $$;
      CREATE TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION fail();
    `);
  const setFault = (state: string) =>
    test.database.run(`TRUNCATE faults; INSERT INTO faults VALUES ('${state}')`);
  const clearFault = () => test.database.run("TRUNCATE faults");
  const readiness = async () => (await fetch(`${test.url}/readyz`)).status;

  it("is answered with 503 and a time to wait, and the same request succeeds later", async () => {
    test = await startTestService();
    const api = transactionsOf(test, await test.token(await test.createTenant("1000")));
    await failWrites("transactions");
    const states = ["40001", "40P01", "53100", "53200", "53300", "55P03", "58030", "57P03", "42P01", "42501"];
    for (const state of states) {
      await setFault(state);
      const { status, headers, body } = await api.create(transfer, `key-${state}`);
      expect([state, status, headers.get("retry-after"), body.error?.code]).toEqual([
        state,
        503,
        "1",
        "UNAVAILABLE",
      ]);
      await clearFault();
      expect((await api.create(transfer, `key-${state}`)).status).toBe(202);
    }
  });

  it("delays settlement until it has gone, and is recorded on no row", async () => {
    test = await startTestService();
    const api = transactionsOf(test, await test.token(await test.createTenant("1000")));
    await failWrites("ledger_entries");
    const failed = () => test.logLines.filter((line) => line.includes("injected")).length;
    for (const state of ["40001", "40P01", "53100", "58030"]) {
      await setFault(state);
      const before = failed();
      const ids = await Promise.all(
        Array.from({ length: 5 }, async () => (await api.create(transfer)).body.id),
      );
      // Tried at least twice, so that a failure would have been recorded.
      await eventually(failed, (count) => count >= before + 2);
      expect([state, await countFailedRows(test.database)]).toEqual([state, 0]);
      await clearFault();
      for (const id of ids) expect((await api.settled(id)).state).toBe("completed");
    }
  });

  it("delays a tenant whose rows are locked, says so, and is recorded on no row", async () => {
    test = await startTestService();
    const api = transactionsOf(test, await test.token(await test.createTenant("1000")));
    await failWrites("ledger_entries");
    await setFault("55P03");
    const { id } = (await api.create(transfer)).body;
    await eventually(
      () => test.logLines.some((line) => line.includes("holds a lock on rows of a tenant")),
      Boolean,
    );
    expect(await countFailedRows(test.database)).toBe(0);
    await clearFault();
    expect((await api.settled(id)).state).toBe("completed");
  });

  it("makes the service not ready while a disk is full or fails, and ready again afterwards", async () => {
    test = await startTestService();
    const api = transactionsOf(test, await test.token(await test.createTenant("1000")));
    await failWrites("transactions");
    for (const state of ["53100", "58030"]) {
      expect(await readiness()).toBe(200);
      await setFault(state);
      expect((await api.create(transfer)).status).toBe(503);
      expect([state, await readiness()]).toEqual([state, 503]);
      await clearFault();
      await eventually(readiness, (status) => status === 200);
    }
    // A deadlock says nothing about the next request.
    await setFault("40P01");
    expect((await api.create(transfer)).status).toBe(503);
    expect(await readiness()).toBe(200);
  });
});

interface SmallDisk {
  path: string;
  grow: (megabytes: number) => void;
  unmount: () => void;
}

/** A small file system; undefined if this machine does not permit it. */
function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const path = mkdtempSync(join(tmpdir(), "bursar-small-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=0711`, "tmpfs", path], {
      stdio: "ignore",
    });
  } catch {
    rmSync(path, { recursive: true });
    return undefined;
  }
  return {
    path,
    grow: (to) => void execFileSync("mount", ["-o", `remount,size=${to}m`, path]),
    unmount: () => {
      execFileSync("umount", ["-l", path]);
      rmSync(path, { recursive: true });
    },
  };
}

// Mounted again by the test, so that nothing stays behind if the test is not selected.
const probe = mountSmallDisk(1);
probe?.unmount();
if (probe === undefined)
  process.stderr.write("skipped: a full disk, because this account may not mount a file system\n");

describe.skipIf(probe === undefined)("a database on a full disk", () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function createDatabaseOn(path: string): Promise<TestDatabase> {
    const admin = openDatabase({ url: inject("postgresUrl"), connectionsMax: 1, connectTimeoutMs: 60_000 });
    closers.push(admin.close);
    const [row] = await admin.query<{ folder: string }>(
      sql`SELECT current_setting('data_directory') AS folder`,
    );
    const { uid, gid } = statSync(row?.folder ?? "");
    chownSync(path, uid, gid);
    const name = `test_${randomBytes(6).toString("hex")}`;
    const administer = (script: string) => admin.session((session) => session.script(script));
    await administer(`CREATE TABLESPACE ${name} LOCATION '${path}'`);
    await administer(`CREATE DATABASE ${name} TEMPLATE ${templateName} TABLESPACE ${name}`);
    const url = withDatabase(inject("postgresUrl"), name);
    const database = openDatabase({ url, connectionsMax: 3 });
    const drop = async () => {
      await database.close();
      await administer(`DROP DATABASE ${name} WITH (FORCE)`);
      await administer(`DROP TABLESPACE ${name}`);
    };
    closers.push(drop);
    return {
      ...database,
      url,
      run: (script) => database.session((session) => session.script(script)),
      drop,
    };
  }

  /** Fills the disk with rows of some size until none fits, then with smaller ones. */
  async function fill(database: TestDatabase): Promise<void> {
    for (const rows of [2048, 128, 4, 4]) {
      const insert = `INSERT INTO filler SELECT repeat('x', 1900) FROM generate_series(1, ${rows})`;
      for (let isFull = false; !isFull; )
        isFull = await database.run(insert).then(
          () => false,
          () => true,
        );
    }
  }

  it("refuses with 503, is not ready, and settles all that it accepted when there is space again", async () => {
    const disk = mountSmallDisk(64);
    if (disk === undefined) throw new Error("the disk cannot be mounted again");
    closers.push(async () => disk.unmount());
    const database = await createDatabaseOn(disk.path);
    const shared = { database, masterKey: randomBytes(32), publicUrl: undefined };
    const test = await startTestService({}, shared);
    closers.push(test.stop);
    const api = transactionsOf(test, await test.token(await test.createTenant("100000")));
    await database.run("CREATE TABLE filler (filler text)");
    await fill(database);
    const accepted: string[] = [];
    const statuses = new Set<number>();
    await eventually(
      async () => {
        const { status, body } = await api.create({ ...transfer, reference: "x".repeat(60) });
        statuses.add(status);
        if (status === 202) accepted.push(body.id);
        return status;
      },
      (status) => status === 503,
    );
    expect((await fetch(`${test.url}/readyz`)).status).toBe(503);
    for (let attempt = 0; attempt < 5; attempt++) statuses.add((await api.create(transfer)).status);
    expect([...statuses].filter((status) => status !== 202)).toEqual([503]);
    disk.grow(256);
    expect(await countFailedRows(database)).toBe(0);
    await eventually(
      async () => (await fetch(`${test.url}/readyz`)).status,
      (status) => status === 200,
    );
    for (const id of accepted) expect((await api.settled(id)).state).toBe("completed");
  });
});
