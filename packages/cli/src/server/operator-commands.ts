import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ListedCommand } from "../help/help.js";

/** A command of the server. Those with `words` share their first word with a command of this package. */
interface OperatorCommand extends ListedCommand {
  words?: readonly string[];
}

/** The commands of the server. A test of the server compares this list with its program. */
export const operatorCommands: readonly OperatorCommand[] = [
  { name: "dev", summary: "run the sandbox: a service with its own PostgreSQL" },
  { name: "serve", summary: "run the service on your own PostgreSQL" },
  { name: "migrate", summary: "migrate the database" },
  { name: "config", summary: "print the effective configuration" },
  { name: "tenant", summary: "create, list and change tenants" },
  { name: "client", summary: "manage the API clients of all tenants" },
  { name: "people", summary: "invite, list, disable, enable and recover people" },
  { name: "policy", summary: "show, set or reset the policy of a tenant", words: ["show", "set", "reset"] },
  { name: "fund", summary: "credit a wallet of the book, or of the development chain" },
  {
    name: "wallet",
    summary: "adopt or resume a halted wallet of a chain, or give up a nonce that only the signer knows",
    words: ["adopt", "give-up", "resume"],
  },
  { name: "network", summary: "list and resume chains" },
  { name: "market", summary: "list and resume markets" },
  { name: "failures", summary: "list and retry rows that could not be processed" },
  { name: "totals", summary: "repair the sums behind rolling limits" },
  {
    name: "audit",
    summary: "verify, export and sign the audit log, check the ledger",
    words: ["ledger", "chain", "verify", "checkpoint", "keys", "export", "prune"],
  },
  { name: "keys", summary: "list and replace master keys" },
  { name: "database", summary: "print the SQL that sets up database roles" },
  { name: "recover", summary: "continue after the database was restored" },
];

/** Whether the server runs this command. */
export function runsInServer([first, second = ""]: readonly string[]): boolean {
  const command = operatorCommands.find(({ name }) => name === first);
  return command !== undefined && (command.words === undefined || command.words.includes(second));
}

/** The address of the server's program; undefined if it is not installed beside this package. */
export function operatorProgram(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve("@bursar/server/package.json");
    const program = join(dirname(manifest), "bin", "bursar.mjs");
    return existsSync(program) ? pathToFileURL(program).href : undefined;
  } catch {
    return undefined;
  }
}
