import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { migrate } from "../../../src/store/core/migrate.js";
import { type Migration, readMigrations } from "../../../src/store/core/migrations.js";
import { sql } from "../../../src/store/core/sql.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

describe("migrating", () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase("empty");
  });
  afterEach(() => database.drop());

  const all = readMigrations();
  const next = (sql: string): Migration => ({
    number: all.length + 1,
    name: `${String(all.length + 1).padStart(4, "0")}_next.sql`,
    sql,
    checksum: sql,
  });
  const appliedNames = async () =>
    (await database.query<{ name: string }>(sql`SELECT name FROM schema_migrations ORDER BY number`)).map(
      (row) => row.name,
    );

  it("applies each missing migration once", async () => {
    expect(await migrate(database, all)).toEqual(all.map((migration) => migration.name));
    expect(await migrate(database, all)).toEqual([]);
    const added = next("CREATE TABLE added ()");
    expect(await migrate(database, [...all, added])).toEqual([added.name]);
  });

  it("works if several processes start concurrently", async () => {
    const slow = next("CREATE TABLE added (); SELECT pg_sleep(0.1)");
    const results = await Promise.all(Array.from({ length: 4 }, () => migrate(database, [...all, slow])));
    expect(results.flat().filter((name) => name === slow.name)).toHaveLength(1);
    expect(await appliedNames()).toEqual([...all.map((migration) => migration.name), slow.name]);
  });

  it("leaves the schema at the last migration before one that fails", async () => {
    const broken = next("CREATE TABLE half (); SELECT 1/0");
    await expect(migrate(database, [...all, broken])).rejects.toThrow(`migration ${broken.name} failed`);
    expect(await appliedNames()).toEqual(all.map((migration) => migration.name));
    expect(await database.query(sql`SELECT to_regclass('half') AS half`)).toEqual([{ half: null }]);
  });

  it("refuses a database that is newer than the code", async () => {
    await migrate(database, [...all, next("SELECT 1")]);
    await expect(migrate(database, all)).rejects.toThrow("start a newer version");
  });

  it("refuses a database with a migration of another checksum", async () => {
    await migrate(database, all);
    await database.query(sql`UPDATE schema_migrations SET checksum = 'other' WHERE number = 1`);
    await expect(migrate(database, all)).rejects.toThrow("in another form");
  });
});
