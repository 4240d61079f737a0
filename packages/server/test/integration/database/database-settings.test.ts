import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkDatabaseSettings } from "../../../src/store/core/check-database-settings.js";
import { openDatabase } from "../../../src/store/core/database.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

describe("the database's settings", () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  const check = async () => {
    const fresh = openDatabase({ url: database.url, connectionsMax: 1 });
    try {
      await checkDatabaseSettings(fresh);
    } finally {
      await fresh.close();
    }
  };

  /** Some settings cannot be changed on a running server, so a fake pg_settings shadows the real one. */
  const pretend = async (name: string, value: string) => {
    await database.run(`
      CREATE SCHEMA pretended;
      CREATE VIEW pretended.pg_settings AS
        SELECT name, CASE name WHEN '${name}' THEN '${value}' ELSE setting END AS setting FROM pg_catalog.pg_settings;
      DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = pretended, pg_catalog, public', current_database()); END $$;
    `);
  };

  it("are accepted with PostgreSQL's defaults", async () => {
    await expect(check()).resolves.toBeUndefined();
  });

  it("refuse synchronous_commit = off, as set for this database", async () => {
    await database.run(
      "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$",
    );
    await expect(check()).rejects.toThrow("synchronous_commit = off");
  });

  it.each([
    ["fsync", "off", "fsync = off"],
    ["full_page_writes", "off", "full_page_writes = off"],
    ["server_version_num", "130011", "needs version 14"],
  ])("refuse %s = %s", async (name, value, message) => {
    await pretend(name, value);
    await expect(check()).rejects.toThrow(message);
  });
});
