import { showId } from "@bursar/protocol";
import type { Command } from "commander";
import { describeAct } from "../../app/audit/audit-entry.js";
import { isRefused } from "../../app/requests/refused.js";
import { OperatorError } from "../../operator-error.js";
import { printable } from "../../runtime/printable.js";
import { createTenantStore } from "../../store/access/clients.js";
import { print } from "../print.js";
import { idArgument, nameArgument, switchArgument } from "./arguments.js";
import { findTenant } from "./find-tenant.js";
import { withDatabase } from "./operator-database.js";
import { keyArgument, keyOption, keyReused, repeatable } from "./repeatable.js";

export function addTenantCommand(program: Command): void {
  const tenant = program.command("tenant").description("create, list and change tenants");
  tenant
    .command("create")
    .description(
      "create a tenant and its first client, which holds every scope; the secret is shown once, and again for a day with the same --key",
    )
    .argument("<name>", "the tenant's name, 1 to 128 characters", nameArgument)
    .option(...keyOption, keyArgument)
    .action(createTenant);
  tenant
    .command("set")
    .description("change the settings of a tenant")
    .argument("<tenant>", "the tenant's id", idArgument("tnt"))
    .requiredOption(
      "--single-administrator <on|off>",
      "on: any client that manages clients may change approvers, and approvers need not be independent",
      switchArgument,
    )
    .action((tenantId: string, options: { singleAdministrator: boolean }) =>
      setSingleAdministrator(tenantId, options.singleAdministrator),
    );
  tenant
    .command("list")
    .description("list all tenants")
    .action(async () => {
      const tenants = await withDatabase(({ database }) => createTenantStore(database).listTenants());
      for (const { id, name, createdAt, isSuspended } of tenants) {
        const state = isSuspended ? "suspended" : "active   ";
        print(`${showId("tnt", id)}  ${createdAt.toISOString()}  ${state}  ${printable(name)}`);
      }
    });
  tenant
    .command("suspend")
    .description(
      "stop a tenant: its tokens are refused, its orders are cancelled, and none of its transactions is processed",
    )
    .argument("<tenant>", "the tenant's id or name")
    .action((named: string) => setSuspended(named, true));
  tenant
    .command("resume")
    .description("let a suspended tenant go on; transactions that were waiting are processed")
    .argument("<tenant>", "the tenant's id or name")
    .action((named: string) => setSuspended(named, false));
}

async function createTenant(name: string, options: { key?: string }): Promise<void> {
  const created = await repeatable(options.key, (takeKey) =>
    withDatabase(async ({ parts }) => {
      const key = takeKey();
      const result = await parts.createTenantOnce(name, key);
      if (isRefused(result)) throw keyReused(key);
      return result;
    }),
  );
  const clientId = showId("cli", created.client.id);
  print(`tenant_id      ${showId("tnt", created.tenant.id)}`);
  print(`client_id      ${clientId}`);
  print(
    created.secret === null
      ? `The secret is not shown any more. \`bursar client reset ${clientId}\` replaces it.`
      : `client_secret  ${created.secret}`,
  );
}

async function setSuspended(named: string, isSuspended: boolean): Promise<void> {
  const { tenant, outcome } = await withDatabase(async ({ parts, database }) => {
    const found = await findTenant(database, named);
    return { tenant: found, outcome: await parts.setTenantSuspended(found.id, isSuspended) };
  });
  const state = isSuspended ? "suspended" : "active";
  print(`${showId("tnt", tenant.id)} is ${outcome === "unchanged" ? "already " : ""}${state}`);
}

async function setSingleAdministrator(tenantId: string, isOn: boolean): Promise<void> {
  const shown = showId("tnt", tenantId);
  const state = isOn ? "on" : "off";
  await withDatabase(async ({ database, now }) => {
    const action = `tenant.single_administrator_${state}`;
    const audit = describeAct({ by: "operator", tenantId }, action, shown, new Date(now()));
    if (!(await createTenantStore(database).setSingleAdministrator(tenantId, isOn, audit)))
      throw new OperatorError(`Tenant ${shown} does not exist.`);
  });
  print(`${shown} has single_administrator ${state}`);
}
