import { type Command, InvalidArgumentError, Option } from "commander";
import { loadConfig } from "../../config/load-config.js";
import { changeOwnerScript, createRolesScript, grantScript } from "../../store/core/schema/database-roles.js";
import { print } from "../print.js";
import { addDatabaseCheck } from "./database-check.js";

export function addDatabaseCommand(program: Command): void {
  const database = program.command("database").description("set up and check the database");
  addDatabaseCheck(database);
  database
    .command("roles")
    .description(
      "print the SQL for two roles: one that owns the tables and migrates, and one for the service, which cannot change the audit log",
    )
    .option("--owner <role>", "the role that owns the tables", roleArgument, "bursar_owner")
    .option("--service <role>", "the role of the service", roleArgument, "bursar_service")
    .addOption(
      new Option("--create-only", "print only what creates the roles, for an empty database")
        .default(false)
        .conflicts("grantsOnly"),
    )
    .option("--grants-only", "print only the grants, as needed after a migration", false)
    .action((options: { owner: string; service: string; createOnly: boolean; grantsOnly: boolean }) => {
      const { owner, service, createOnly, grantsOnly } = options;
      const roles = { owner, service, schema: loadConfig(process.env).values.database_schema };
      if (!grantsOnly) print(createRolesScript(roles));
      if (!grantsOnly && !createOnly) print(changeOwnerScript(roles));
      if (!createOnly) print(grantScript(roles));
    });
}

/** PostgreSQL cuts longer names. */
const roleLengthMax = 63;

function roleArgument(value: string): string {
  if (/^[\x20-\x7e]+$/.test(value) && value.length <= roleLengthMax) return value;
  throw new InvalidArgumentError(`A role has 1 to ${roleLengthMax} printable ASCII characters.`);
}
