import { showId } from "@bursar/protocol";
import { describeAct } from "../audit/audit-entry.js";
import type { ApiClient } from "../clients/client.js";
import { hashSecret, newSecret } from "../clients/client-secret.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { isActive, originOf, refusedLogin } from "./log-in.js";
import type { PersonClient } from "./people-service.js";
import { isOf, nameAccount } from "./provider-account.js";
import { type Session, sessionLimits } from "./session.js";
import type { Caller, OpenedSession, SessionServiceDeps } from "./session-service.js";

/** Opens a session for a person who has proven who they are. */
export async function opened(
  deps: SessionServiceDeps,
  proving: Promise<{ person: PersonClient; keyId: string | null } | Refused>,
  from: Caller,
): Promise<OpenedSession | Refused> {
  const proven = await proving;
  return isRefused(proven) ? proven : await open(deps, proven.person, proven.keyId, from);
}

async function open(
  deps: SessionServiceDeps,
  person: PersonClient,
  credentialId: string | null,
  from: Caller,
): Promise<OpenedSession | Refused> {
  const secret = newSecret(deps.randomBytes);
  const createdAt = new Date(deps.now());
  const session: Session = {
    id: deps.newUuid(),
    tenantId: person.tenantId,
    clientId: person.id,
    hash: hashSecret(deps.keys, secret).hash,
    credentialId,
    address: from.address,
    lastAddress: null,
    createdAt,
    lastUsedAt: createdAt,
    expiresAt: new Date(createdAt.getTime() + sessionLimits.lifetimeMs),
    endedAt: null,
  };
  const describe = (action: string, id: string) =>
    describeAct(originOf(person, from), action, showId("ses", id), createdAt);
  const { account } = person.person;
  const isOfProvider = credentialId === null && account !== undefined;
  const opening = describe("session.open", session.id);
  const result = await deps.sessions.createSession(
    session,
    isOfProvider ? { ...opening, objects: [opening.object ?? "", nameAccount(account)] } : opening,
    (id) => describe("session.end", id),
    (current) => isProofKept(current, person, credentialId),
  );
  if (result === undefined) {
    const code = credentialId === null ? "OIDC_REFUSED" : "PASSKEY_INVALID";
    deps.audit.record({ ...refusedLogin(person, from, createdAt), code });
    return { refused: code, message: "The person was changed at the same moment. Log in again." };
  }
  if (result.hasEndedOthers) deps.access.forget(person.id);
  if (credentialId !== null) deps.uses.recordPasskey(credentialId);
  return { session, person, cookie: `${showId("ses", session.id)}.${secret}` };
}

/** Whether what has proven who the person is still does, now that nobody else can change the person. */
function isProofKept(current: ApiClient, proven: PersonClient, credentialId: string | null): boolean {
  if (!isActive(current)) return false;
  if (credentialId !== null) return current.keys.some(({ id }) => id === credentialId);
  const { account } = proven.person;
  const isUnchanged = current.authorityChangedAt.getTime() === proven.authorityChangedAt.getTime();
  return account !== undefined && isOf(current, account) && isUnchanged;
}
