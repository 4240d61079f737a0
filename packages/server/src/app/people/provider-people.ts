import { showId } from "@bursar/protocol";
import type { OperatorOrigin } from "../audit/audit-entry.js";
import { applyClientChange } from "../clients/apply-client-change.js";
import type { ApiClient, ClientChange, ProviderAccount } from "../clients/client.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { asPerson, invitePerson, type PeopleServiceDeps, type PersonClient } from "./people-service.js";
import { hasRoomFor, isOf, isSameAddress, nameAccount, withAccount } from "./provider-account.js";
import { findRole, type Role, withRole } from "./role.js";

/** What an OpenID provider says about somebody who logs in, and the role that the operator's table gives for that. */
interface ProviderLogin {
  account: ProviderAccount;
  /** Null for one that cannot be shown. Nobody is created or found by it. */
  email: string | null;
  name: string;
  role: string;
  /** Called with the person whom the login is about, also if it is refused. */
  onFound: (personId: string) => void;
}

/**
 * The people who log in with an OpenID provider. An account of the provider is one person of a tenant, also if it cannot log in any more;
 * the address counts only while the person has no account. The configuration gives the role, so the operator does.
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

export interface ProviderPeopleDeps extends PeopleServiceDeps {
  /** A person whose row was changed or deleted by something other than the service. */
  reportTampered: (tenantId: string, shownId: string) => void;
}

export function createProviderPeople(deps: ProviderPeopleDeps): ProviderPeople {
  return {
    findOrCreatePerson: async (origin, login) => {
      const known = await findKnown(deps, origin, login);
      if (known !== undefined) return await updatePerson(deps, origin, known, login);
      const { account, email, onFound: _, ...rest } = login;
      if (email === null) return { refused: "OIDC_NO_ROLE" };
      const body = { ...rest, email };
      const invited = await invitePerson(deps, origin, body, undefined, account);
      if (!isRefused(invited)) return invited.person;
      if (invited.refused !== "PERSON_EXISTS") return invited;
      // Another login or an invitation has created the person in the meantime.
      const created = await findKnown(deps, origin, login);
      if (created !== undefined) return await updatePerson(deps, origin, created, login);
      await findHidden(deps, origin, { id: null, email }, login);
      return refusedLogin;
    },
  };
}

/**
 * Whether the account or the address belongs to another person whose row does not say so, or is gone. Somebody has written to it: the login is
 * about that person, and refused.
 */
async function findHidden(
  { clients, reportTampered }: ProviderPeopleDeps,
  { tenantId }: OperatorOrigin,
  given: { id: string | null; email: string },
  { account, onFound }: ProviderLogin,
): Promise<boolean> {
  const hidden = await clients.findRecordedOther({ tenantId, account, ...given });
  if (hidden === undefined) return false;
  onFound(hidden);
  reportTampered(tenantId, showId("cli", hidden));
  return true;
}

async function findKnown(
  { clients }: PeopleServiceDeps,
  { tenantId }: OperatorOrigin,
  { account, email }: ProviderLogin,
): Promise<ApiClient | undefined> {
  const known = await clients.findPersonOfAccount(tenantId, account);
  return known ?? (email === null ? undefined : await clients.findPerson(tenantId, email));
}

/** Gives the person the role, and the address unless another person has it. */
async function updatePerson(
  deps: ProviderPeopleDeps,
  origin: OperatorOrigin,
  { id }: ApiClient,
  login: ProviderLogin,
): Promise<PersonClient | Refused> {
  const { account, email, role: name, onFound } = login;
  onFound(id);
  const role = await findRole(deps.roles, origin.tenantId, name);
  if (isRefused(role)) return role;
  const holder = email === null ? undefined : await deps.clients.findPerson(origin.tenantId, email);
  const freeEmail = holder === undefined || holder.id === id ? email : null;
  const decide = (client: ApiClient) => decideLogin(client, { account, email, freeEmail }, role);
  const current = asPerson(await deps.clients.findClientOfTenant(origin.tenantId, id));
  if (isRefused(current)) return refusedLogin;
  if (isUpToDate(current, account, name) && (current.person.email === email || freeEmail === null))
    return current;
  const action = isOf(current, account) ? "person.change" : "person.link";
  const names = ({ person }: ApiClient) => [
    nameAccount(account),
    person?.email ?? "",
    ...(email === null ? [] : [email]),
  ];
  const changed = await applyClientChange(deps, origin, id, action, decide, { resets: true, names });
  if (!isRefused(changed) || changed.refused !== "PERSON_EXISTS") return asPerson(changed);
  const isHidden = await findHidden(deps, origin, { id, email: freeEmail ?? current.person.email }, login);
  return isHidden ? refusedLogin : refusedAddress;
}

function isUpToDate(client: PersonClient, account: ProviderAccount, role: string): boolean {
  const { role: current, linkBy } = client.person;
  return client.state === "disabled" || (isOf(client, account) && current === role && linkBy === undefined);
}

/**
 * A client that has invited the person, or made a new link for them, may have kept a passkey, a link or a session. The provider does not
 * know of these. They end before the person is that of the account, and before the person gets a scope that those could not have used yet.
 * To refuse the login instead would let that client keep the person out.
 */
function decideLogin(
  client: ApiClient,
  {
    account,
    email,
    freeEmail,
  }: Pick<ProviderLogin, "account" | "email"> & { freeEmail: ProviderLogin["email"] },
  role: Role,
): ClientChange | Refused {
  const { person, state, controllers, scopes, secrets, keys } = client;
  if (person === null || state === "disabled") return refusedLogin;
  const isLinked = isOf(client, account);
  if (!isLinked && person.account?.issuer === account.issuer) return refuseOtherAccount(client);
  if (!isLinked && (email === null || !isSameAddress(person.email, email)))
    return refuseFormerAccount(client);
  if (!isLinked && !hasRoomFor(person)) return refusedLogin;
  const isVouchedFor =
    controllers.length === 0 || (isLinked && role.scopes.every((scope) => scopes.includes(scope)));
  const set = withRole(
    {
      ...withAccount(person, account),
      ...(freeEmail === null ? {} : { email: freeEmail }),
      // Who has made a link before this login makes no other: the person has a way in, also without the passkey of that link.
      linkBy: undefined,
    },
    role,
  );
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

/** The account was this person's. Nobody has vouched for its new address. */
function refuseFormerAccount({ id }: ApiClient): Refused {
  const recover = `bursar people recover ${showId("cli", id)}`;
  return {
    ...refusedLogin,
    message: `This account of the provider belongs to a person with another address. If that is you, ask the operator to run \`${recover} --email <your address>\`, and log in again. If it was never yours, the operator runs \`${recover} --release-accounts\`.`,
  };
}
