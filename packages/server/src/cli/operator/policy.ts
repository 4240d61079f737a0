import { readFileSync } from "node:fs";
import { defaultPolicy } from "@bursar/domain";
import { errorCatalog, showId } from "@bursar/protocol";
import type { Command } from "commander";
import { isRefused, type Refused } from "../../app/requests/refused.js";
import { InputError, OperatorError } from "../../operator-error.js";
import { print, printJson } from "../print.js";
import { findTenant } from "./find-tenant.js";
import { type OperatorTools, withDatabase } from "./operator-database.js";

/** The operator is not bound by who must approve changes of a policy: a tenant that locked itself out has no other way back. */
export function addPolicyCommand(program: Command): void {
  const policy = program.command("policy").description("show and replace the policy of a tenant");
  policy
    .command("show")
    .description("print the policy in force as JSON")
    .argument("<tenant>", "the tenant's id or name")
    .action(async (named: string) => {
      const { document } = await withDatabase(async (tools) => readInForce(tools, await idOf(tools, named)));
      printJson(document, 2);
    });
  policy
    .command("set")
    .description("put a policy in force at once, without the approvals that the current one requires")
    .argument("<tenant>", "the tenant's id or name")
    .requiredOption("--file <path>", "a file with the policy document as JSON")
    .action((named: string, { file }: { file: string }) => replace(named, readDocument(file)));
  policy
    .command("reset")
    .description("put the policy in force that every tenant starts with")
    .argument("<tenant>", "the tenant's id or name")
    .action((named: string) => replace(named, defaultPolicy));
}

async function replace(named: string, document: unknown): Promise<void> {
  const { tenantId, version } = await withDatabase(async (tools) => {
    const id = await idOf(tools, named);
    const { version: expectedVersion } = await readInForce(tools, id);
    const origin = { by: "operator", tenantId: id } as const;
    const replaced = orThrow(await tools.parts.useCases.replacePolicy(origin, expectedVersion, document));
    if (!("policy" in replaced)) throw new Error("a policy of the operator waits for approval");
    return { tenantId: id, version: replaced.policy.version };
  });
  print(`${showId("tnt", tenantId)} has policy version ${version}`);
}

async function idOf({ database }: OperatorTools, named: string): Promise<string> {
  return (await findTenant(database, named)).id;
}

async function readInForce({ parts }: OperatorTools, tenantId: string) {
  return orThrow(await parts.useCases.readPolicy(tenantId, undefined));
}

function readDocument(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new InputError(`${file} cannot be read as JSON: ${(cause as Error).message}`, { cause });
  }
}

function orThrow<T>(result: T | Refused): T {
  if (!isRefused(result)) return result;
  const faults =
    result.details?.map(({ path, reason }) => `\n  ${path.replace(/^body\./, "")} ${reason}`) ?? [];
  const message = `${result.message ?? errorCatalog[result.refused].message}${faults.join("")}`;
  throw faults.length > 0 ? new InputError(message) : new OperatorError(message);
}
