import { timingSafeEqual } from "node:crypto";
import { readId } from "@bursar/protocol";
import { hashSecret } from "../clients/client-secret.js";
import type { Refused } from "../requests/refused.js";
import { isActive } from "./log-in.js";
import type { PersonClient } from "./people-service.js";
import { isOpen, type Session } from "./session.js";
import type { Caller, SessionServiceDeps } from "./session-service.js";

type CookieDeps = Pick<SessionServiceDeps, "sessions" | "clients" | "keys" | "now" | "isSuspended">;

/** The open session that a cookie belongs to, with its person as the database has it now. */
export async function findByCookie(
  deps: CookieDeps,
  cookie: string | undefined,
): Promise<{ session: Session; person: PersonClient } | Refused> {
  const required: Refused = { refused: "SESSION_REQUIRED" };
  const { id, secret } = readCookie(cookie);
  const session = id === undefined ? undefined : await deps.sessions.findSession(id);
  if (session === undefined || !isOpen(session, deps.now())) return required;
  if (!isSecretOf(session, secret, deps)) return required;
  const client = await deps.clients.findClientOfTenant(session.tenantId, session.clientId);
  if (client === undefined || !isActive(client)) return required;
  if (client.disabledAt !== null && session.createdAt < client.disabledAt) return required;
  if (!isCredentialKept(client, session)) return required;
  return (await deps.isSuspended(client.tenantId))
    ? { refused: "TENANT_SUSPENDED" }
    : { session, person: client };
}

/** The session that a cookie names, and the secret in it. */
export function readCookie(cookie: string | undefined): { id: string | undefined; secret: string } {
  const [shownId = "", secret = ""] = (cookie ?? "").split(".", 2);
  return { id: readId("ses", shownId), secret };
}

export function isSecretOf({ hash }: Session, secret: string, { keys }: Pick<CookieDeps, "keys">): boolean {
  return timingSafeEqual(hashSecret(keys, secret).hash, hash);
}

/** Null as long as a session was used only from where it was opened. */
export function lastAddressOf({ address, lastAddress }: Session, from: Caller): string | null {
  return lastAddress === null && from.address === address ? null : from.address;
}

/** A session of a passkey ends with it; any other one when the person's role, state or credentials are changed. */
function isCredentialKept(client: PersonClient, { credentialId, createdAt }: Session): boolean {
  if (credentialId === null) return client.authorityChangedAt <= createdAt;
  return client.keys.some((key) => key.id === credentialId);
}
