import { readId, showId } from "@bursar/protocol";
import { type AuditDraft, type ClientOrigin, nilTenantId } from "../audit/audit-entry.js";
import { applyClientChange } from "../clients/apply-client-change.js";
import type { ApiClient } from "../clients/client.js";
import { matchSecret } from "../clients/client-secret.js";
import type { ClientDeps } from "../clients/client-service.js";
import { isRefused, type Refused } from "../requests/refused.js";
import {
  type Assertion,
  type Attestation,
  findPasskey,
  newPasskeyKey,
  passkeysMax,
  writePasskey,
} from "./passkey.js";
import type { PersonClient } from "./people-service.js";
import type { Caller, SessionServiceDeps } from "./session-service.js";

/** A person who has shown a passkey, and its key. */
interface Proven {
  person: PersonClient;
  keyId: string;
}

const invalidInvitation: Refused = { refused: "INVITATION_INVALID" };
const invalidPasskey: Refused = { refused: "PASSKEY_INVALID" };

/** A challenge names nobody. It opens one session, also if people of two tenants have the passkey. */
const anybody = { tenantId: nilTenantId, id: nilTenantId };

/** The person of a link that can be used now. */
export async function findInvited(
  { clients, keys, isSuspended, audit, now }: SessionServiceDeps,
  invitation: string,
  from: Caller,
): Promise<{ client: PersonClient; secret: string } | Refused> {
  const { id, secret } = readInvitation(invitation);
  const client = id === undefined ? undefined : await clients.findClient(id);
  const match = matchSecret(keys, client?.secrets ?? [], secret, now());
  if (client === undefined || client.person === null) return invalidInvitation;
  if (match !== undefined && isActive(client) && !(await isSuspended(client.tenantId)))
    return { client, secret };
  const about = { tenantId: client.tenantId, object: showId("cli", client.id), code: "INVITATION_INVALID" };
  audit.record({ ...refusedSession(from, new Date(now())), action: "invitation.use", ...about });
  return invalidInvitation;
}

export function readInvitation(invitation: string): { id: string | undefined; secret: string } {
  const [shownId = "", secret = ""] = invitation.split(".", 2);
  return { id: readId("cli", shownId), secret };
}

export function isActive(client: ApiClient): client is PersonClient {
  return client.person !== null && client.state === "active";
}

export async function registerPasskey(
  deps: SessionServiceDeps,
  invitation: string,
  name: string,
  attestation: Attestation,
  from: Caller,
): Promise<Proven | Refused> {
  const found = await findInvited(deps, invitation, from);
  if (isRefused(found)) return found;
  const { client, secret } = found;
  const isChallenge = (challenge: string) =>
    deps.challenges.verify(challenge, `register ${client.id}`) !== undefined;
  const refuse = (refused: Refused) => {
    const about = { action: "passkey.register", code: refused.refused };
    deps.audit.record({ ...refusedLogin(client, from, new Date(deps.now())), ...about });
    return refused;
  };
  const made = await deps.passkeys.verifyRegistration(attestation, isChallenge);
  if (made === undefined) return refuse(invalidPasskey);
  const key = newPasskeyKey(deps, client.id, writePasskey({ ...made, name }));
  const origin = originOf(client, from);
  // Decided again with the row locked: of two uses of a link, the second finds no secret.
  const decide = (current: ApiClient) => {
    const match = matchSecret(deps.keys, current.secrets, secret, deps.now());
    if (match === undefined || !isActive(current)) return invalidInvitation;
    if (current.keys.length >= passkeysMax) return { refused: "KEY_LIMIT_REACHED" } as const;
    return { addKey: key, removeSecretIds: current.secrets.map(({ id }) => id) };
  };
  // The one who has the link could act as the person since it was made, which is when the authority was changed.
  const registered = await applyClientChange(deps, origin, client.id, "passkey.register", decide, {
    keepsAuthority: true,
  });
  if (isRefused(registered)) return refuse(registered);
  return { person: { ...registered, person: client.person }, keyId: key.id };
}

export async function logIn(
  deps: SessionServiceDeps,
  userHandle: string,
  assertion: Assertion,
  from: Caller,
): Promise<Proven | Refused> {
  const id = readHandle(userHandle);
  const client = id === undefined ? undefined : await deps.clients.findClient(id);
  const found = client && findPasskey(client.keys, assertion.id);
  if (client === undefined || found === undefined || !isActive(client)) {
    // A program has no passkey: nobody can log in as one, and its id would only hide attempts at people.
    if (client !== undefined && client.person !== null)
      deps.audit.record(refusedLogin(client, from, new Date(deps.now())));
    return invalidPasskey;
  }
  let used: { id: string; expiresAt: Date } | undefined;
  const isChallenge = (challenge: string) => {
    used = deps.challenges.verify(challenge, "login");
    return used !== undefined;
  };
  const verified = await deps.passkeys.verifyAssertion(assertion, isChallenge, found.passkey);
  const isFirstUse =
    verified !== undefined &&
    used !== undefined &&
    (await deps.nonces.useNonce(anybody, `passkey:${used.id}`, used.expiresAt));
  if (!isFirstUse || (await deps.isSuspended(client.tenantId))) {
    deps.audit.record(refusedLogin(client, from, new Date(deps.now())));
    return invalidPasskey;
  }
  const counted = await recordCounter(deps, client, found.key.id, assertion.id, verified.counter, from);
  if (counted !== undefined) {
    // A counter that goes back is the sign of a passkey that was copied.
    deps.audit.record({ ...refusedLogin(client, from, new Date(deps.now())), code: counted.refused });
    return counted;
  }
  return { person: client, keyId: found.key.id };
}

/** A counter that does not grow means that the passkey was copied. Most passkeys have none: it stays 0 and nothing is written. */
export async function recordCounter(
  deps: Pick<SessionServiceDeps, keyof ClientDeps>,
  client: ApiClient,
  keyId: string,
  credentialId: string,
  counter: number,
  from: Caller,
): Promise<Refused | undefined> {
  if (counter === 0) return undefined;
  const changed = await applyClientChange(
    deps,
    originOf(client, from),
    client.id,
    "passkey.use",
    (current) => {
      const found = findPasskey(current.keys, credentialId);
      if (found === undefined || counter <= found.passkey.counter) return invalidPasskey;
      return { setKeyMaterial: { id: keyId, material: writePasskey({ ...found.passkey, counter }) } };
    },
  );
  return isRefused(changed) ? changed : undefined;
}

/** The person, acting by a link, a passkey or a cookie, without an access token. */
export function originOf(client: ApiClient, { requestId, address }: Caller): ClientOrigin {
  const principal = {
    tenantId: client.tenantId,
    clientId: client.id,
    tokenId: "",
    scopes: new Set(client.scopes),
  };
  return { by: "client", principal, requestId, address };
}

export function refusedLogin({ id, tenantId }: ApiClient, from: Caller, occurredAt: Date): AuditDraft {
  const about = { tenantId, object: showId("cli", id), code: "PASSKEY_INVALID" };
  return { ...refusedSession(from, occurredAt), ...about };
}

/** That the link of an invitation was opened. Nobody has shown yet to be its person: it may have been stolen. */
export function openedInvitation({ id, tenantId }: ApiClient, from: Caller, occurredAt: Date): AuditDraft {
  const about = {
    tenantId,
    action: "invitation.open",
    object: showId("cli", id),
    outcome: "succeeded",
  } as const;
  return { ...refusedSession(from, occurredAt), ...about };
}

/** A login that was refused, of nobody in particular. */
export function refusedSession({ requestId, address }: Caller, occurredAt: Date): AuditDraft {
  return {
    ...{ tenantId: undefined, occurredAt, actor: "anonymous", clientId: null, tokenId: null },
    ...{ action: "session.open", object: null, outcome: "refused", code: null, repeated: 1 },
    ...{ requestId, address },
  };
}

/** The user handle of a passkey is the UUID of the person. */
export function readHandle(handle: string): string | undefined {
  const bytes = Buffer.from(handle, "base64url");
  if (bytes.length !== 16) return undefined;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export function userHandleOf(personId: string): string {
  return Buffer.from(personId.replaceAll("-", ""), "hex").toString("base64url");
}
