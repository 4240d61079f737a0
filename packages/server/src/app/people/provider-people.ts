import { showId } from "@bursar/protocol";
import type { OperatorOrigin } from "../audit/audit-entry.js";
import type { ApiClient, ClientChange, ProviderAccount } from "../clients/client.js";
import { applyClientChange } from "../clients/client-service.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { asPerson, invitePerson, type PeopleServiceDeps, type PersonClient } from "./people-service.js";
import { findRole, type Role, withRole } from "./role.js";

/** What an OpenID provider says about somebody who logs in, and the role that the operator's table gives for that. */
interface ProviderLogin {
  account: ProviderAccount;
  email: string;
  name: string;
  role: string;
}

/**
 * The people who log in with an OpenID provider. An account of the provider is one person of a tenant; the address counts only until an
 * account has used it. The configuration gives the role, so the operator does.
 */
export interface ProviderPeople {
  /** Who is created by the first login. */
  findOrCreatePerson: (origin: OperatorOrigin, login: ProviderLogin) => Promise<PersonClient | Refused>;
}

const refusedLogin: Refused = { refused: "OIDC_REFUSED" };

const refusedAddress: Refused = {
  ...refusedLogin,
  message: "Another person has got this address at the same moment. Log in again.",
};

export function createProviderPeople(deps: PeopleServiceDeps): ProviderPeople {
  return {
    findOrCreatePerson: async (origin, login) => {
      const known = await findKnown(deps, origin, login);
      if (known !== undefined) return await updatePerson(deps, origin, known, login);
      const { account, ...body } = login;
      const invited = await invitePerson(deps, origin, body, undefined, account);
      if (!isRefused(invited)) return invited.person;
      if (invited.refused !== "PERSON_EXISTS") return invited;
      // Another login or an invitation has created the person in the meantime.
      const created = await findKnown(deps, origin, login);
      return created === undefined ? refusedLogin : await updatePerson(deps, origin, created, login);
    },
  };
}

async function findKnown(
  { clients }: PeopleServiceDeps,
  { tenantId }: OperatorOrigin,
  { account, email }: ProviderLogin,
): Promise<ApiClient | undefined> {
  return (
    (await clients.findPersonOfAccount(tenantId, account)) ?? (await clients.findPerson(tenantId, email))
  );
}

/** Gives the person the role, and the address unless another person has it. */
async function updatePerson(
  deps: PeopleServiceDeps,
  origin: OperatorOrigin,
  { id }: ApiClient,
  { account, email, role: name }: ProviderLogin,
): Promise<PersonClient | Refused> {
  const role = await findRole(deps.roles, origin.tenantId, name);
  if (isRefused(role)) return role;
  const holder = await deps.clients.findPerson(origin.tenantId, email);
  const isFree = holder === undefined || holder.id === id;
  const decide = (client: ApiClient) =>
    decideLogin(client, account, role, isFree ? email : client.person?.email);
  const current = asPerson(await deps.clients.findClientOfTenant(origin.tenantId, id));
  if (isRefused(current)) return refusedLogin;
  if (isUpToDate(current, account, name) && (current.person.email === email || !isFree)) return current;
  const action = isOf(current, account) ? "person.change" : "person.link";
  const changed = await applyClientChange(deps, origin, id, action, decide, { resets: true });
  return isRefused(changed) && changed.refused === "PERSON_EXISTS" ? refusedAddress : asPerson(changed);
}

function isUpToDate(client: PersonClient, account: ProviderAccount, role: string): boolean {
  return client.state === "disabled" || (isOf(client, account) && client.person.role === role);
}

function isOf({ person }: ApiClient, { issuer, subject }: ProviderAccount): boolean {
  return person?.account?.issuer === issuer && person.account.subject === subject;
}

/**
 * A client that has invited the person, or made a new link for them, may have kept a passkey, a link or a session. The provider does not
 * know of these. They end before the person is that of the account, and before the person gets a scope that those could not have used yet.
 * To refuse the login instead would let that client keep the person out.
 */
function decideLogin(
  client: ApiClient,
  account: ProviderAccount,
  role: Role,
  email: string | undefined,
): ClientChange | Refused {
  const { person, state, controllers, scopes, secrets, keys } = client;
  if (person === null || email === undefined || state === "disabled") return refusedLogin;
  const isLinked = isOf(client, account);
  if (!isLinked && person.account?.issuer === account.issuer) return refuseOtherAccount(client);
  const isVouchedFor =
    controllers.length === 0 || (isLinked && role.scopes.every((scope) => scopes.includes(scope)));
  const set = withRole({ ...person, email, account }, role);
  if (isVouchedFor) return { set };
  return {
    set,
    removeSecretIds: secrets.map(({ id }) => id),
    removeKeyIds: keys.map(({ id }) => id),
    authority: { by: null, controllers: "reset" },
  };
}

/** Somebody else may have the address now. */
function refuseOtherAccount({ id }: ApiClient): Refused {
  return {
    ...refusedLogin,
    message: `Somebody has logged in with this address and another account of the provider. If the address is yours now, ask the operator to run \`bursar people recover ${showId("cli", id)}\`, and log in again.`,
  };
}
