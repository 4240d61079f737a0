import { invitationUrl } from "../../app/people/console-address.js";
import type { PersonClient } from "../../app/people/people-service.js";
import { isRefused } from "../../app/requests/refused.js";
import type { Parts } from "../../compose/compose.js";

/** A person of the sandbox, as the banner shows it. */
export interface SandboxPerson {
  name: string;
  role: string;
  /** Null if the person has a passkey, or was disabled. */
  link: string | null;
}

/** One who writes a rule, and two who approve. The operator invites them, so they are independent of each other and of all clients. */
const people = [
  { email: "ada@sandbox.example", name: "Ada", role: "admin" },
  { email: "grace@sandbox.example", name: "Grace", role: "approver" },
  { email: "alan@sandbox.example", name: "Alan", role: "approver" },
];

/** Invites the people of the sandbox at the first start, and makes a new link at each start for those without a passkey. */
export async function seedPeople(url: string, tenantId: string, parts: Parts): Promise<SandboxPerson[]> {
  const known = await listEverybody(tenantId, parts);
  const seeded: SandboxPerson[] = [];
  for (const person of people) {
    const before = known.find((one) => one.person.email === person.email);
    seeded.push({ ...person, role: before?.person.role ?? person.role, link: await link(person, before) });
  }
  return seeded;

  async function link(person: (typeof people)[number], before: PersonClient | undefined) {
    const { invitePerson, recoverPerson } = parts.useCases;
    if (before !== undefined && (before.state !== "active" || before.keys.length > 0)) return null;
    const origin = { by: "operator", tenantId } as const;
    const invited = await (before === undefined
      ? invitePerson(origin, person, undefined)
      : recoverPerson(origin, before.id));
    if (isRefused(invited)) throw new Error(`the operator was refused: ${invited.refused}`);
    return invited.invitation === null ? null : invitationUrl(url, invited.invitation.token);
  }
}

const pageSize = 100;

async function listEverybody(tenantId: string, { useCases }: Parts): Promise<PersonClient[]> {
  const found: PersonClient[] = [];
  for (;;) {
    const page = await useCases.listPeople(tenantId, pageSize, found.at(-1)?.id);
    found.push(...page);
    if (page.length < pageSize) return found;
  }
}

/** The part of the banner about the console. */
export function describeConsole(consoleUrl: string, seeded: readonly SandboxPerson[]): string {
  const invited = seeded.filter(({ link }) => link !== null);
  if (invited.length === 0) return `  Console: ${consoleUrl}`;
  const lines = invited.map(({ name, role, link }) => `    ${name.padEnd(6)} ${role.padEnd(9)} ${link}`);
  return `  Console: ${consoleUrl}. Each of these links makes one person, once, within 30 minutes:\n\n${lines.join("\n")}`;
}
