import { timingSafeEqual } from "node:crypto";
import { readId } from "@bursar/protocol";
import { hashSecret } from "../clients/client-secret.js";
import type { Refused } from "../requests/refused.js";
import { isActive } from "./log-in.js";
import type { PersonClient } from "./people-service.js";
import { isOpen, type Session } from "./session.js";
import type { SessionServiceDeps } from "./session-service.js";

type CookieDeps = Pick<SessionServiceDeps, "sessions" | "clients" | "keys" | "now" | "isSuspended">;

/** The session that a cookie names, before it is checked. */
export function sessionNamedBy(cookie: string | undefined): string | undefined {
  return cookie?.split(".", 1)[0]?.slice(0, idLengthMax);
}

const idLengthMax = 64;

/** The open session that a cookie belongs to, with its person as the database has it now. */
export async function findByCookie(
  deps: CookieDeps,
  cookie: string | undefined,
): Promise<{ session: Session; person: PersonClient } | Refused> {
  const required: Refused = { refused: "SESSION_REQUIRED" };
  const [shownId = "", secret = ""] = (cookie ?? "").split(".", 2);
  const id = readId("ses", shownId);
  const session = id === undefined ? undefined : await deps.sessions.findSession(id);
  if (session === undefined || !isOpen(session, deps.now())) return required;
  if (!timingSafeEqual(hashSecret(deps.keys, secret).hash, session.hash)) return required;
  const client = await deps.clients.findClientOfTenant(session.tenantId, session.clientId);
  if (client === undefined || !isActive(client)) return required;
  if (client.disabledAt !== null && session.createdAt < client.disabledAt) return required;
  if (!isCredentialKept(client, session)) return required;
  return (await deps.isSuspended(client.tenantId))
    ? { refused: "TENANT_SUSPENDED" }
    : { session, person: client };
}

/** A session of a passkey ends with it; any other one when the person's role, state or credentials are changed. */
function isCredentialKept(client: PersonClient, { credentialId, createdAt }: Session): boolean {
  if (credentialId === null) return client.authorityChangedAt <= createdAt;
  return client.keys.some((key) => key.id === credentialId);
}
