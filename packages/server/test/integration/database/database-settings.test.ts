import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Database, openDatabase } from "../../../src/store/core/database.js";
import { checkDatabaseSettings } from "../../../src/store/core/schema/check-database-settings.js";
import type { Statement } from "../../../src/store/core/sql.js";
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
    // Some settings cannot be changed on a running server, so the answer of the real one is changed.
    const changed: Database = {
      ...database,
      query: async <Row>(statement: Statement) => {
        const rows = await database.query<Row & { name: string; setting: string }>(statement);
        return rows.map((row) => (row.name === name ? { ...row, setting: value } : row));
      },
    };
    await expect(checkDatabaseSettings(changed)).rejects.toThrow(message);
  });
});
