import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { type Database, openDatabase } from "../../../src/store/core/database.js";
import { templateName, withDatabase } from "./postgres-for-tests.js";

export interface TestDatabase extends Database {
  url: string;
  /** Runs SQL that has no parameters, also several statements. */
  run: (script: string) => Promise<void>;
  drop: () => Promise<void>;
}

/** A database of its own for one test or file: a copy of the migrated template, or an empty one. */
export async function createTestDatabase(from: "template" | "empty" = "template"): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const admin = openDatabase({ url: inject("postgresUrl"), connectionsMax: 1, connectTimeoutMs: 60_000 });
  const administer = (script: string) => admin.session((session) => session.script(script));
  await administer(`CREATE DATABASE ${name}${from === "template" ? ` TEMPLATE ${templateName}` : ""}`);
  const url = withDatabase(inject("postgresUrl"), name);
  const database = openDatabase({ url, connectionsMax: 5, connectTimeoutMs: 60_000 });
  return {
    ...database,
    url,
    run: (script) => database.session((session) => session.script(script)),
    drop: async () => {
      await database.close();
      await administer(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.close();
    },
  };
}
