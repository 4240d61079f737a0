import { type Session, showId } from "@bursar/protocol";
import { userHandleOf } from "../../../app/people/log-in.js";
import { readPasskey } from "../../../app/people/passkey.js";
import type { Session as StoredSession } from "../../../app/people/session.js";
import type { RegistrationOptions } from "../../../app/people/session-service.js";

export function presentSession(session: StoredSession): Session {
  return {
    id: showId("ses", session.id),
    object: "session",
    passkey_id: session.credentialId === null ? null : showId("key", session.credentialId),
    address: session.address,
    last_address: session.lastAddress ?? session.address,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}

/** What `navigator.credentials.create` needs. */
export function presentOptions({ challenge, rpId, person, tenantName }: RegistrationOptions) {
  return {
    challenge,
    rp_id: rpId,
    user_handle: userHandleOf(person.id),
    email: person.person.email,
    name: person.name,
    existing_credentials: person.keys.map((key) => readPasskey(key).credentialId),
    ...(tenantName === undefined ? {} : { tenant_name: tenantName }),
  };
}
