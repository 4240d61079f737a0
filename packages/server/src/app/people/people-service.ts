import { type ChangePersonBody, type InvitePersonBody, showId } from "@bursar/protocol";
import { actorOf, type Origin, tenantOf } from "../audit/audit-entry.js";
import { applyClientChange, type ChangeOptions } from "../clients/apply-client-change.js";
import type {
  ApiClient,
  ClientChange,
  ClientSecret,
  PersonFacts,
  ProviderAccount,
} from "../clients/client.js";
import { hashSecret, newSecret } from "../clients/client-secret.js";
import { type ClientServiceDeps, draftClient } from "../clients/client-service.js";
import { disableClient } from "../clients/disable-client.js";
import { callerReviewOf, describeReviewedAct } from "../clients/review-caller.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { nameAccount, withoutAccount, withReleased } from "./provider-account.js";
import { findRole, type RoleStore, refuseRole, withRole } from "./role.js";
import { refuseUnseen } from "./visible-text.js";

/** A client that is a person. */
export type PersonClient = ApiClient & { person: PersonFacts };

/** `invited` until the person has a passkey, or has logged in with the provider. */
export function stateOfPerson({ state, keys, person }: PersonClient): "invited" | ApiClient["state"] {
  const hasLogin = keys.length > 0 || person.account !== undefined;
  return state === "active" && !hasLogin ? "invited" : state;
}

/** Invites, reads and changes people. A person is a client, so what protects clients protects people. */
export interface PeopleService {
  invitePerson: (
    origin: Origin,
    body: InvitePersonBody,
    idempotencyKey: string | undefined,
  ) => Promise<InvitedPerson | Refused>;
  readPerson: (tenantId: string, id: string) => Promise<PersonClient | Refused>;
  listPeople: (tenantId: string, limit: number, beforeId: string | undefined) => Promise<PersonClient[]>;
  changePerson: (origin: Origin, id: string, body: ChangePersonBody) => Promise<PersonClient | Refused>;
  /** Makes a new invitation and removes all passkeys of a person, who registers a new one with it. */
  recoverPerson: (origin: Origin, id: string, options?: RecoverOptions) => Promise<InvitedPerson | Refused>;
}

/** What only the operator says when a person is recovered. */
export interface RecoverOptions {
  /** The address of the person from now on. */
  email?: string | undefined;
  /** The accounts of the provider that the person had are somebody else's. */
  releasesAccounts?: boolean | undefined;
}

export interface InvitedPerson {
  person: PersonClient;
  /** Null if an earlier request with the same idempotency key invited the person: a link is shown once. */
  invitation: { token: string; expiresAt: Date } | null;
}

export interface PeopleServiceDeps extends ClientServiceDeps {
  roles: RoleStore;
}

const invitationLifetimeMs = 30 * 60_000;

export function createPeopleService(deps: PeopleServiceDeps): PeopleService {
  return {
    invitePerson: async (origin, body, idempotencyKey) =>
      refuseUnseen(body) ?? (await invitePerson(deps, origin, body, idempotencyKey)),
    readPerson: async (tenantId, id) => asPerson(await deps.clients.findClientOfTenant(tenantId, id)),
    listPeople: async (tenantId, limit, beforeId) =>
      (await deps.clients.listPeople(tenantId, limit, beforeId)).filter(isPerson),
    changePerson: async (origin, id, body) =>
      refuseUnseen(body) ?? (await changePerson(deps, origin, id, body)),
    recoverPerson: async (origin, id, options = {}) =>
      refuseUnseen(options) ?? (await recoverPerson(deps, origin, id, options)),
  };
}

function isPerson(client: ApiClient): client is PersonClient {
  return client.person !== null;
}

/** What is no person is not found, like what does not exist. */
export function asPerson(client: ApiClient | Refused | undefined): PersonClient | Refused {
  if (client === undefined) return notFound;
  if (isRefused(client)) return client.refused === "CLIENT_NOT_FOUND" ? notFound : client;
  return isPerson(client) ? client : notFound;
}

const notFound: Refused = { refused: "PERSON_NOT_FOUND" };

export async function invitePerson(
  deps: PeopleServiceDeps,
  origin: Origin,
  body: InvitePersonBody,
  idempotencyKey: string | undefined,
  account?: ProviderAccount,
): Promise<InvitedPerson | Refused> {
  const role = await findRole(deps.roles, tenantOf(origin), body.role);
  if (isRefused(role)) return role;
  const refused = refuseRole(origin, role);
  if (refused !== undefined) return refused;
  const { token, secret } = newInvitation(deps, origin);
  const { client: drafted } = draftClient(deps, origin, { name: body.name, scopes: [...role.scopes] });
  const linkBy = actorOf(origin) ?? undefined;
  const client = { ...drafted, secrets: [secret], ...withRole({ email: body.email, account, linkBy }, role) };
  const request = idempotentRequest(idempotencyKey, body);
  const shownId = showId("cli", client.id);
  const act = describeReviewedAct(origin, "person.invite", shownId, client.createdAt);
  const result = await deps.clients.createClient(
    client,
    request,
    { ...act, objects: [shownId, ...(account === undefined ? [] : [nameAccount(account)]), body.email] },
    origin.by === "operator" ? Number.MAX_SAFE_INTEGER : deps.clientsMax,
    callerReviewOf(origin, deps.now),
  );
  if (result === "too_many") return { refused: "CLIENT_LIMIT_REACHED" };
  if (isRefused(result)) return result;
  if ("created" in result) return { person: client, invitation: shown(client, token, secret) };
  return replay(result.requestHash, request?.hash, () => {
    const earlier = asPerson(result.earlier);
    return isRefused(earlier) ? earlier : { person: earlier, invitation: null };
  });
}

async function changePerson(
  deps: PeopleServiceDeps,
  origin: Origin,
  id: string,
  body: ChangePersonBody,
): Promise<PersonClient | Refused> {
  const role = body.role === undefined ? undefined : await findRole(deps.roles, tenantOf(origin), body.role);
  if (isRefused(role)) return role;
  const decide = ({ person }: ApiClient): ClientChange | Refused => {
    const refused = role && refuseRole(origin, role);
    if (person === null || refused !== undefined) return refused ?? notFound;
    return {
      set: {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.state === undefined ? {} : { state: body.state }),
        ...(role === undefined ? {} : withRole(person, role)),
      },
    };
  };
  const apply = (options: ChangeOptions = {}) =>
    applyClientChange(deps, origin, id, "person.change", decide, { ...options, refuse: refuseProgram });
  const known = await deps.clients.findClientOfTenant(tenantOf(origin), id);
  // Before the stop of a client is recorded in any case, because this route stops people only.
  if (known === undefined || !isPerson(known)) return notFound;
  const changed = asPerson(
    await (body.state === "disabled"
      ? disableClient(deps, origin, { clientId: id, action: "person.change" }, apply)
      : apply()),
  );
  if (!isRefused(changed) && body.state !== undefined) await deps.onStateChanged(changed);
  return changed;
}

async function recoverPerson(
  deps: PeopleServiceDeps,
  origin: Origin,
  id: string,
  options: RecoverOptions,
): Promise<InvitedPerson | Refused> {
  const { token, secret } = newInvitation(deps, origin);
  const by = actorOf(origin);
  const released =
    by === null && options.releasesAccounts === true
      ? await deps.clients.listRecordedAccounts(tenantOf(origin), id)
      : undefined;
  const decide = ({ secrets, keys, person }: ApiClient): ClientChange => ({
    addSecret: secret,
    removeSecretIds: secrets.map((one) => one.id),
    removeKeyIds: keys.map((one) => one.id),
    // The operator says who the person is from now on, also to the provider.
    ...(by === null ? { authority: { by, controllers: "reset" } } : {}),
    set: {
      person: person && {
        ...(by === null ? recoveredByOperator(person, options.email, released) : person),
        linkBy: by ?? undefined,
      },
    },
  });
  const recovered = asPerson(
    await applyClientChange(deps, origin, id, "person.recover", decide, {
      refuse: (client) => refuseProgram(client) ?? (by === client.id ? ownRecovery : undefined),
      // A new link for one that was not used, or was approved, is made by the client that invited the person, or for which it was approved.
      isExempt: (client) => by !== null && client.keys.length === 0 && hasMadeLink(client, by),
      ...(by === null ? { resets: true } : {}),
      names: ({ person }) => [
        ...(person?.account === undefined ? [] : [nameAccount(person.account)]),
        ...(person === null ? [] : [person.email]),
        ...(by === null && options.email !== undefined ? [options.email] : []),
      ],
    }),
  );
  return isRefused(recovered)
    ? recovered
    : { person: recovered, invitation: shown(recovered, token, secret) };
}

function recoveredByOperator(
  person: PersonFacts,
  email: string | undefined,
  released: readonly ProviderAccount[] | undefined,
): PersonFacts {
  const recovered = released === undefined ? withoutAccount(person) : withReleased(person, released);
  return { ...recovered, ...(email === undefined ? {} : { email }) };
}

/**
 * An approved change of a role gives its requester no link. Nor has one who logs in with the provider for the first time a link that was not
 * used: that login ends all links, and the person depends on nobody afterwards, until a recovery.
 */
function hasMadeLink({ controllers, authorityChangedBy, person }: ApiClient, by: string): boolean {
  return controllers.includes(by) && authorityChangedBy === by && person?.linkBy === by;
}

function refuseProgram(client: ApiClient): Refused | undefined {
  return isPerson(client) ? undefined : notFound;
}

/** Otherwise an access token would become a passkey. */
const ownRecovery: Refused = {
  refused: "CHANGE_REQUEST_REQUIRED",
  message: "A person cannot recover themselves. Add a passkey, or ask another administrator or the operator.",
};

function newInvitation({ keys, newUuid, randomBytes, now }: PeopleServiceDeps, origin: Origin) {
  const token = newSecret(randomBytes);
  const createdAt = new Date(now());
  const secret: ClientSecret = {
    id: newUuid(),
    ...hashSecret(keys, token),
    addedBy: actorOf(origin),
    createdAt,
    expiresAt: new Date(createdAt.getTime() + invitationLifetimeMs),
    lastUsedAt: null,
  };
  return { token, secret };
}

/** The token of a link names the person too. */
function shown({ id }: ApiClient, token: string, { expiresAt }: ClientSecret): InvitedPerson["invitation"] {
  return expiresAt === null ? null : { token: `${showId("cli", id)}.${token}`, expiresAt };
}
