import { showId } from "@bursar/protocol";
import { type Command, InvalidArgumentError } from "commander";
import type { OperatorOrigin } from "../../app/audit/audit-entry.js";
import { invitationUrl } from "../../app/people/console-address.js";
import { type InvitedPerson, stateOfPerson } from "../../app/people/people-service.js";
import type { Session } from "../../app/people/session.js";
import { publicUrlOf } from "../../compose/public-address.js";
import { OperatorError } from "../../operator-error.js";
import { printable } from "../../runtime/printable.js";
import { createClientStore } from "../../store/access/clients.js";
import { print } from "../print.js";
import { hasSandboxCredentials, readSandboxCredentials } from "../sandbox/sandbox-credentials.js";
import { idArgument, nameArgument } from "./arguments.js";
import { findTenant } from "./find-tenant.js";
import { operatorOf, orThrow } from "./operator-acts.js";
import { loadOperatorSettings, withDatabase } from "./operator-database.js";

export function addPeopleCommand(program: Command): void {
  const people = program.command("people").description("manage the people of tenants");
  people
    .command("invite")
    .description(
      "invite a person, who is independent of all clients; the printed link works once, within 30 minutes",
    )
    .argument("<email>", "the email address, which tells people apart; nothing is sent to it", emailArgument)
    .requiredOption(
      "--role <role>",
      "viewer, auditor, operator, approver, developer, admin, or a role of the tenant",
    )
    .requiredOption("--tenant <tenant>", "the tenant's id or name")
    .option("--name <name>", "how the person is called; the email address if left out", nameArgument)
    .action(async (email: string, options: { role: string; tenant: string; name?: string }) => {
      const body = { email, name: options.name ?? email.slice(0, 128), role: options.role };
      await withDatabase(async ({ parts, database }) => {
        const { id: tenantId } = await findTenant(database, options.tenant);
        const origin: OperatorOrigin = { by: "operator", tenantId };
        printInvited(orThrow(await parts.useCases.invitePerson(origin, body, undefined)));
      });
    });
  people
    .command("list")
    .description("list a tenant's people")
    .argument("<tenant>", "the tenant's id or name")
    .action(async (tenant: string) => {
      await withDatabase(async ({ parts, database }) => {
        const { id } = await findTenant(database, tenant);
        for (let last: string | undefined; ; ) {
          const page = await parts.useCases.listPeople(id, pageSize, last);
          for (const client of page) {
            const { id: personId, keys, person } = client;
            print(
              `${showId("cli", personId)}  ${stateOfPerson(client).padEnd(8)}  ${person.role.padEnd(9)}  ${keys.length} passkeys  ${printable(person.email)}`,
            );
          }
          if (page.length < pageSize) return;
          last = page.at(-1)?.id;
        }
      });
    });
  people
    .command("disable")
    .description("disable a person; sessions and tokens become invalid within 5 seconds")
    .argument("<person>", "the person's id", idArgument("cli"))
    .action((id: string) => setState(id, "disabled"));
  people
    .command("enable")
    .description("enable a person again, whose payments that wait only for this are processed at once")
    .argument("<person>", "the person's id", idArgument("cli"))
    .action((id: string) => setState(id, "active"));
  people
    .command("sessions")
    .description("list the open sessions of a person, or end all of them")
    .argument("<email>", "the email address of the person", emailArgument)
    .requiredOption("--tenant <tenant>", "the tenant's id or name")
    .option("--end", "end all of them; their tokens become invalid within 5 seconds")
    .action(async (email: string, options: { tenant: string; end?: true }) => {
      await withDatabase(async ({ parts, database }) => {
        const { id: tenantId } = await findTenant(database, options.tenant);
        const person = await createClientStore(database).findPerson(tenantId, email);
        if (person === undefined) throw new OperatorError(`The tenant has no person ${printable(email)}.`);
        const open = await parts.useCases.listOwnSessions(tenantId, person.id);
        for (const session of open) printSession(session);
        if (options.end !== true) return;
        const refused = await parts.useCases.endSessionsOf(
          { by: "operator", tenantId },
          person.id,
          undefined,
        );
        if (refused !== undefined) orThrow(refused);
        print(`${open.length} sessions of ${showId("cli", person.id)} are ended`);
      });
    });
  people
    .command("recover")
    .description(
      "remove all passkeys of a person, make a new link, and make the person independent of the clients that invited or changed them",
    )
    .argument("<person>", "the person's id", idArgument("cli"))
    .option("--email <email>", "the address of the person from now on", emailArgument)
    .option(
      "--release-accounts",
      "the accounts of the OpenID provider that the person had are somebody else's, who can be another person with them",
    )
    .action(async (id: string, { email, releaseAccounts }: { email?: string; releaseAccounts?: true }) => {
      const options = { email, releasesAccounts: releaseAccounts };
      await withDatabase(async ({ parts, database }) => {
        const origin = await operatorOf(database, id);
        const { state } = orThrow(await parts.useCases.readPerson(origin.tenantId, id));
        const shownId = showId("cli", id);
        if (state === "disabled")
          throw new OperatorError(
            `${shownId} is disabled, so its link would not work. Run \`bursar people enable ${shownId}\` first.`,
          );
        printInvited(orThrow(await parts.useCases.recoverPerson(origin, id, options)));
      });
    });
}

async function setState(id: string, state: "active" | "disabled"): Promise<void> {
  await withDatabase(async ({ parts, database }) =>
    orThrow(await parts.useCases.changePerson(await operatorOf(database, id), id, { state })),
  );
  print(`${showId("cli", id)} is ${state}`);
}

const pageSize = 100;

function printSession({ id, address, lastAddress, createdAt, lastUsedAt, credentialId }: Session): void {
  const by = credentialId === null ? "provider" : "passkey";
  const times = `opened ${createdAt.toISOString()}  used ${lastUsedAt.toISOString()}`;
  const moved = lastAddress === null ? "" : `  last used from ${printable(lastAddress)}`;
  print(`${showId("ses", id)}  ${by.padEnd(8)}  ${times}  ${printable(address)}${moved}`);
}

function printInvited({ person, invitation }: InvitedPerson): void {
  const { role, roleCreatedBy } = person.person;
  // A client can have written the role, and another one with this name before.
  const author = roleCreatedBy === undefined ? "" : `, written by ${showId("cli", roleCreatedBy)}`;
  print(`person  ${showId("cli", person.id)}`);
  print(`role    ${printable(role)}${author}`);
  print(`scopes  ${person.scopes.join(" ")}`);
  if (invitation !== null)
    print(`link    ${invitationUrl(addressOf(loadOperatorSettings()), invitation.token)}`);
}

/** A sandbox that is not at the usual port has written where it is. */
function addressOf(settings: ReturnType<typeof loadOperatorSettings>): string {
  const { public_url, database_url, data_dir } = settings;
  const isSandbox = public_url === undefined && database_url === undefined && hasSandboxCredentials(data_dir);
  return isSandbox ? readSandboxCredentials(data_dir).url : publicUrlOf(settings);
}

function emailArgument(text: string): string {
  if (text.length > 254 || !/^[^\s@<>()[\],;:"\\]+@[^\s@<>()[\],;:"\\]+$/.test(text))
    throw new InvalidArgumentError("The email address must have the form name@host.");
  return text;
}
