import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { analyzeYoungTables } from "../../../src/store/core/schema/analyze-young-tables.js";
import { sql } from "../../../src/store/core/sql.js";
import { createTestDatabase, type TestDatabase } from "../../harness/database/test-database.js";

describe("young tables", () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await database.run("ALTER TABLE tenants SET (autovacuum_enabled = false)");
  });
  afterAll(() => database.drop());

  const fill = (rows: number) =>
    database.run(`INSERT INTO tenants SELECT uuidv7(), 'filler', now() FROM generate_series(1, ${rows})`);
  const knownRows = async () => {
    const [row] = await database.query<{ rows: number }>(
      sql`SELECT reltuples::integer AS rows FROM pg_class WHERE relname = 'tenants'`,
    );
    return row?.rows;
  };

  it("are analysed when they have grown, until they are large", async () => {
    // Plus the fee tenant, which a migration creates.
    await fill(500);
    await analyzeYoungTables(database);
    expect(await knownRows()).toBe(501);
    await fill(20_000);
    await analyzeYoungTables(database);
    expect(await knownRows()).toBe(20_501);
    await fill(20_000);
    await analyzeYoungTables(database);
    expect(await knownRows()).toBe(20_501);
  });
});
