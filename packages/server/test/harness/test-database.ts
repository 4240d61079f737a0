import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { type Database, openDatabase } from "../../src/store/database.js";
import { templateName, withDatabase } from "./postgres-for-tests.js";

export interface TestDatabase {
  url: string;
  sql: Database;
  drop: () => Promise<void>;
}

/** A database of its own for one test or file: a copy of the migrated template, or an empty one. */
export async function createTestDatabase(from: "template" | "empty" = "template"): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const admin = openDatabase({ url: inject("postgresUrl"), connectionsMax: 1 });
  await admin.unsafe(`CREATE DATABASE ${name}${from === "template" ? ` TEMPLATE ${templateName}` : ""}`);
  const url = withDatabase(inject("postgresUrl"), name);
  const sql = openDatabase({ url, connectionsMax: 5 });
  return {
    url,
    sql,
    drop: async () => {
      await sql.end({ timeout: 1 });
      await admin.unsafe(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end({ timeout: 1 });
    },
  };
}
