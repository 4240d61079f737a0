import { randomBytes } from "node:crypto";
import { inject } from "vitest";
import { type Database, openDatabase } from "../../../src/store/core/database.js";
import { asServiceRole, templateName, withDatabase } from "./postgres-for-tests.js";

export interface TestDatabase extends Database {
  /** As the owner of the tables. */
  url: string;
  /** As the role of the service. Without it the service is the owner, as when it migrates an empty database. */
  serviceUrl?: string;
  /** Runs SQL that has no parameters, also several statements. */
  run: (script: string) => Promise<void>;
  /** Closes it; PostgreSQL removes it later. A removal waits for a checkpoint, which the next test does not have to. */
  drop: () => Promise<void>;
}

export interface RemovableDatabase extends TestDatabase {
  /** Removes it at once, so that the roles that own its tables can be removed. */
  dropNow: () => Promise<void>;
}

/** That a machine is busy with something else says nothing about what is tested. */
const patience = { connectTimeoutMs: 60_000, statementTimeoutMs: 60_000 };

/** A database of its own for one test or file: a copy of the migrated template, or an empty one. */
export async function createTestDatabase(
  from: "template" | "empty" = "template",
): Promise<RemovableDatabase> {
  const name = `test_${randomBytes(6).toString("hex")}`;
  const admin = openDatabase({ url: inject("postgresUrl"), connectionsMax: 1, ...patience });
  const administer = (script: string) => admin.session((session) => session.script(script));
  await administer(`CREATE DATABASE ${name}${from === "template" ? ` TEMPLATE ${templateName}` : ""}`);
  const url = withDatabase(inject("postgresUrl"), name);
  const database = openDatabase({ url, connectionsMax: 5, ...patience });
  const remove = async () => {
    await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.close();
  };
  return {
    ...database,
    url,
    ...(from === "template" ? { serviceUrl: asServiceRole(url) } : {}),
    run: (script) => database.session((session) => session.script(script)),
    drop: async () => {
      await database.close();
      // PostgreSQL stops at the end of the run, and what is left goes with its folder.
      remove().catch(() => undefined);
    },
    dropNow: async () => {
      await database.close();
      await remove();
    },
  };
}
