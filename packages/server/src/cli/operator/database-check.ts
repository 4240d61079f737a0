import type { Command } from "commander";
import { ConfigError } from "../../config/setting.js";
import { readMasterKeys } from "../../credentials/master-key.js";
import { OperatorError } from "../../operator-error.js";
import { printable } from "../../runtime/printable.js";
import { type Database, openDatabase } from "../../store/core/database.js";
import { DatabaseUnavailableError } from "../../store/core/database-unavailable-error.js";
import { checkDatabaseSettings } from "../../store/core/schema/check-database-settings.js";
import { assertMigrated } from "../../store/core/schema/migrate.js";
import { readMigrations } from "../../store/core/schema/migrations.js";
import { print, printJson } from "../print.js";
import {
  loadOperatorSettings,
  masterKeyPath,
  sandboxDatabaseUrl,
  withDatabase,
} from "./operator-database.js";

/** What a check has found, as `bursar doctor` shows it. */
interface Finding {
  state: "ok" | "failed";
  check: string;
  found: string;
}

export function addDatabaseCheck(database: Command): void {
  database
    .command("check")
    .description("check the settings of the database, its migrations and the master key; changes nothing")
    .option("--json", "print a line of JSON for each check", false)
    .action(async ({ json }: { json: boolean }) => {
      const findings = await checkAll();
      for (const finding of findings)
        if (json) printJson(finding);
        else print(`${finding.state}  ${finding.check}  ${printable(finding.found)}`);
      if (findings.some(({ state }) => state === "failed")) throw new OperatorError("A check has failed.");
    });
}

async function checkAll(): Promise<Finding[]> {
  const values = loadOperatorSettings();
  const key = await find("master key", async () => {
    const path = masterKeyPath(values);
    const { length } = readMasterKeys(path).all;
    return `${path}, with ${length === 1 ? "1 key" : `${length} keys`}`;
  });
  const database = await find("database", async () => {
    const url = values.database_url ?? sandboxDatabaseUrl(values.data_dir);
    await using(
      openDatabase({ url, schema: values.database_schema, connectionsMax: 1 }),
      checkDatabaseSettings,
    );
    return "answers, and keeps what it has committed";
  });
  if (database.state === "failed") return [key, database];
  const migrations = await find("migrations", async () => {
    const url = values.database_url ?? sandboxDatabaseUrl(values.data_dir);
    const known = readMigrations();
    await using(openDatabase({ url, schema: values.database_schema, connectionsMax: 1 }), (opened) =>
      assertMigrated(opened, known),
    );
    return `all ${known.length} applied`;
  });
  if (key.state === "failed" || migrations.state === "failed") return [key, database, migrations];
  const match = await find("key of the data", async () => {
    await withDatabase(async () => undefined);
    return "the master key is that of the database";
  });
  return [key, database, migrations, match];
}

async function using(database: Database, work: (database: Database) => Promise<void>): Promise<void> {
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

/** What an operator can put right is a finding; anything else is a fault of the program. */
async function find(check: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return { state: "ok", check, found: await look() };
  } catch (error) {
    const isExpected = [OperatorError, ConfigError, DatabaseUnavailableError].some(
      (kind) => error instanceof kind,
    );
    const { code, message } = error as { code?: unknown; message: string };
    if (!isExpected && typeof code !== "string") throw error;
    return { state: "failed", check, found: message };
  }
}
