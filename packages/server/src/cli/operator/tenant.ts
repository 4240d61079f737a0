import { showId } from "@bursar/protocol";
import type { Command } from "commander";
import { createTenantStore } from "../../store/access/clients.js";
import { printable } from "../printable.js";
import { nameArgument } from "./arguments.js";
import { withDatabase } from "./operator-database.js";

export function addTenantCommand(program: Command): void {
  const tenant = program.command("tenant").description("create and list tenants");
  tenant
    .command("create")
    .description(
      "create a tenant and its first client, which holds every scope; the secret is shown only once",
    )
    .argument("<name>", "the tenant's name, 1 to 128 characters", nameArgument)
    .action(async (name: string) => {
      const created = await withDatabase(({ parts }) => parts.createTenant(name));
      console.log(`tenant_id      ${showId("tnt", created.tenant.id)}`);
      console.log(`client_id      ${showId("cli", created.client.id)}`);
      console.log(`client_secret  ${created.secret}`);
    });
  tenant
    .command("list")
    .description("list all tenants")
    .action(async () => {
      const tenants = await withDatabase(({ database }) => createTenantStore(database).listTenants());
      for (const { id, name, createdAt } of tenants)
        console.log(`${showId("tnt", id)}  ${createdAt.toISOString()}  ${printable(name)}`);
    });
}
