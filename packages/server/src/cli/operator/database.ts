import { type Command, InvalidArgumentError } from "commander";
import { changeOwnerScript, createRolesScript, grantScript } from "../../store/core/database-roles.js";

export function addDatabaseCommand(program: Command): void {
  const database = program.command("database").description("set up the database");
  database
    .command("roles")
    .description(
      "print the SQL for two roles: one that owns the tables and migrates, and one for the service, which cannot change the audit log",
    )
    .option("--owner <role>", "the role that owns the tables", roleArgument, "bursar_owner")
    .option("--service <role>", "the role of the service", roleArgument, "bursar_service")
    .option("--grants-only", "print only the grants, as needed after a migration", false)
    .action((options: { owner: string; service: string; grantsOnly: boolean }) => {
      if (!options.grantsOnly) {
        console.log(createRolesScript(options));
        console.log(changeOwnerScript(options));
      }
      console.log(grantScript(options));
    });
}

/** PostgreSQL cuts longer names. */
const roleLengthMax = 63;

function roleArgument(value: string): string {
  if (/^[\x20-\x7e]+$/.test(value) && value.length <= roleLengthMax) return value;
  throw new InvalidArgumentError(`A role has 1 to ${roleLengthMax} printable ASCII characters.`);
}
