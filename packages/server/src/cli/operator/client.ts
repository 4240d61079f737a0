import { type Scope, showId } from "@bursar/protocol";
import type { Command } from "commander";
import { describeAct, type Origin } from "../../app/audit/audit-entry.js";
import type { ApiClient } from "../../app/clients/client.js";
import { type ClientQuotas, showClientQuotas } from "../../app/quotas/client-quotas.js";
import { printable } from "../../runtime/printable.js";
import { restoreClient } from "../../store/access/authenticate-clients.js";
import { createClientStore } from "../../store/access/clients.js";
import type { Database } from "../../store/core/database.js";
import { print } from "../print.js";
import { idArgument, nameArgument, quotaArgument, scopeArgument, secondsArgument } from "./arguments.js";
import { findTenant } from "./find-tenant.js";
import { operatorOf, orThrow } from "./operator-acts.js";
import { withDatabase } from "./operator-database.js";

export function addClientCommand(program: Command): void {
  const client = program.command("client").description("manage API clients");
  client
    .command("create")
    .description(
      "create a client, which is independent of all others and may therefore approve for them; its secret is shown only once",
    )
    .argument("<tenant>", "the tenant's id or name")
    .argument("<name>", "the client's name, 1 to 128 characters", nameArgument)
    .requiredOption("--scope <scopes...>", "the scopes that it gets", scopeArgument)
    .option("--require-signature", "accept only signed requests from it", false)
    .action(async (tenant: string, name: string, options: { scope: Scope[]; requireSignature: boolean }) => {
      const body = {
        name,
        scopes: options.scope,
        require_signature: options.requireSignature,
      };
      const { client: created, secret } = await withDatabase(async ({ parts, database }) => {
        const { id: tenantId } = await findTenant(database, tenant);
        const origin: Origin = { by: "operator", tenantId };
        return orThrow(await parts.useCases.createClient(origin, body, undefined));
      });
      print(`client_id      ${showId("cli", created.id)}`);
      print(`client_secret  ${secret}`);
    });
  client
    .command("list")
    .description("list a tenant's clients")
    .argument("<tenant>", "the tenant's id or name")
    .action(async (tenant: string) => {
      await withDatabase(async ({ database }) => printAll(database, (await findTenant(database, tenant)).id));
    });
  client
    .command("disable")
    .description("disable a client; its tokens become invalid within 5 seconds, and its orders are cancelled")
    .argument("<client>", "the client's id", idArgument("cli"))
    .option("--cancel-transactions", "also cancel its transactions; otherwise they wait", false)
    .action((clientId: string, { cancelTransactions }: { cancelTransactions: boolean }) =>
      setState(clientId, "disabled", cancelTransactions ? { cancel: ["transactions"] } : {}),
    );
  client
    .command("enable")
    .description("enable a client again")
    .argument("<client>", "the client's id", idArgument("cli"))
    .action((clientId: string) => setState(clientId, "active"));
  client
    .command("restore")
    .description(
      "accept a client whose row was changed in the database; it is disabled, loses its secrets and keys, and gets these scopes",
    )
    .argument("<client>", "the client's id", idArgument("cli"))
    .requiredOption("--scope <scopes...>", "the scopes that it gets", scopeArgument)
    .action((clientId: string, { scope }: { scope: Scope[] }) => restore(clientId, scope));
  client
    .command("rename")
    .description("change the name of a client")
    .argument("<client>", "the client's id", idArgument("cli"))
    .argument("<name>", "the client's name, 1 to 128 characters", nameArgument)
    .action(async (clientId: string, name: string) => {
      await withDatabase(async ({ parts, database }) =>
        orThrow(await parts.useCases.changeClient(await operatorOf(database, clientId), clientId, { name })),
      );
      print(`${showId("cli", clientId)} is called ${printable(name)}`);
    });
  client
    .command("quota")
    .description("replace the quotas of a client; without arguments, reset them to the service's defaults")
    .argument("<client>", "the client's id", idArgument("cli"))
    .argument("[quotas...]", "such as create=5/10: 5 a second, with bursts of 10", quotaArgument)
    .action((clientId: string, quotas: ClientQuotas = {}) => setQuotas(clientId, quotas));
  client
    .command("reset")
    .description(
      "remove all secrets and keys of a client, give it a new secret, shown only once, and make it independent of the clients that created or changed it",
    )
    .argument("<client>", "the client's id", idArgument("cli"))
    .action(async (clientId: string) => {
      const { secret } = await withDatabase(async ({ parts, database }) =>
        orThrow(await parts.useCases.resetClient(await operatorOf(database, clientId), clientId)),
      );
      print(`client_secret  ${secret}`);
    });
  client
    .command("rotate")
    .description("give a client a new secret, shown only once; the previous one stays valid for the overlap")
    .argument("<client>", "the client's id", idArgument("cli"))
    .option("--overlap <seconds>", "how long the previous secret stays valid", secondsArgument, 86_400)
    .action(async (clientId: string, { overlap }: { overlap: number }) => {
      const { secret } = await withDatabase(async ({ parts, database }) =>
        orThrow(await parts.useCases.rotateSecret(await operatorOf(database, clientId), clientId, overlap)),
      );
      print(`client_secret  ${secret}`);
    });
}

async function restore(clientId: string, scopes: readonly Scope[]): Promise<void> {
  await withDatabase(async ({ database, now }) => {
    const origin = await operatorOf(database, clientId);
    const audit = describeAct(origin, "client.restore", showId("cli", clientId), new Date(now()));
    await restoreClient(database, clientId, scopes, audit);
  });
  print(`${showId("cli", clientId)} is disabled and has no credentials`);
}

async function setQuotas(clientId: string, quotas: ClientQuotas): Promise<void> {
  const body = { quotas: showClientQuotas(quotas) };
  await withDatabase(async ({ parts, database }) =>
    orThrow(await parts.useCases.changeClient(await operatorOf(database, clientId), clientId, body)),
  );
  const shown = Object.entries(quotas).map(([name, { perSecond, burst }]) => `${name}=${perSecond}/${burst}`);
  print(`${showId("cli", clientId)} has ${shown.join(" ") || "the default quotas"}`);
}

async function setState(
  clientId: string,
  state: "active" | "disabled",
  more: { cancel?: ["transactions"] } = {},
): Promise<void> {
  await withDatabase(async ({ parts, database }) =>
    orThrow(
      await parts.useCases.changeClient(await operatorOf(database, clientId), clientId, { state, ...more }),
    ),
  );
  print(`${showId("cli", clientId)} is ${state}`);
}

const pageSize = 100;

async function printAll(database: Database, tenantId: string): Promise<void> {
  const store = createClientStore(database);
  for (let page: ApiClient[] = [], last: string | undefined; ; last = page.at(-1)?.id) {
    page = await store.listClients(tenantId, pageSize, last);
    for (const { id, state, name, scopes } of page) {
      print(`${showId("cli", id)}  ${state.padEnd(8)}  ${printable(name)}  ${scopes.join(" ")}`);
    }
    if (page.length < pageSize) return;
  }
}
