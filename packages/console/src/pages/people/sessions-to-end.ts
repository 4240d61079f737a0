import type { Me, Person } from "@bursar/client";

/** What keeps the one who looks from ending the sessions of a person; undefined if nothing that the page knows does. */
export function explainKeptSessions(
  { id, scopes }: Pick<Person, "id" | "scopes">,
  { client, token, tenant }: Pick<Me, "client" | "token" | "tenant">,
): string | undefined {
  if (client.id === id) return undefined;
  const lacking = scopes.filter((scope) => !token.scopes.includes(scope));
  if (lacking.length > 0)
    return `You cannot end them, because your role lacks ${lacking.join(", ")}: nobody ends the sessions of a person who may do more.`;
  if (scopes.includes("transactions:approve") && !tenant.single_administrator)
    return "This person approves payments, and nobody keeps an approver from deciding alone. Disable or recover this person below: both end the sessions, when another person has approved the change request.";
  return undefined;
}
