import { type Session, showId } from "@bursar/protocol";
import type { Session as StoredSession } from "../../../app/people/session.js";

export function presentSession(session: StoredSession): Session {
  return {
    id: showId("ses", session.id),
    object: "session",
    passkey_id: showId("key", session.credentialId),
    address: session.address,
    created_at: session.createdAt.toISOString(),
    last_used_at: session.lastUsedAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}
