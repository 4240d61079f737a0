import type { Command } from "commander";
import { loadConfig } from "../../config/load-config.js";
import { ConfigError } from "../../config/setting.js";
import { createLogger } from "../../log.js";
import { withAvailableDatabase } from "../../store/core/connection/wait-for-database.js";
import { openDatabase } from "../../store/core/database.js";
import { checkDatabaseSettings } from "../../store/core/schema/check-database-settings.js";
import { migrate } from "../../store/core/schema/migrate.js";
import { readMigrations } from "../../store/core/schema/migrations.js";
import { print } from "../print.js";

export function addMigrateCommand(program: Command): void {
  program
    .command("migrate")
    .description("migrate the database that DATABASE_URL names, and exit")
    .action(async () => {
      const { values } = loadConfig(process.env);
      if (values.database_url === undefined) {
        throw new ConfigError(
          "database_url (environment DATABASE_URL) is not set. Set it to the URL of a PostgreSQL database.",
        );
      }
      const log = createLogger(values.log_level, process.stdout.isTTY);
      const database = openDatabase({
        url: values.database_url,
        schema: values.database_schema,
        connectionsMax: 2,
      });
      try {
        await withAvailableDatabase(database, log, new AbortController().signal, async () => {
          await checkDatabaseSettings(database);
          const applied = await migrate(database, readMigrations());
          for (const name of applied) print(`applied ${name}`);
          if (applied.length === 0) print("the schema is up to date");
        });
      } finally {
        await database.close();
      }
    });
}
