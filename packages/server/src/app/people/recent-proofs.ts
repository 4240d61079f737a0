import { createRecentRecords } from "../access/recent-records.js";
import type { ApiClient } from "../clients/client.js";
import { matchSecret } from "../clients/client-secret.js";
import { readHandle, readInvitation } from "./log-in.js";
import { type Assertion, findPasskey } from "./passkey.js";
import type { Session } from "./session.js";
import { isSecretOf, readCookie } from "./session-cookie.js";
import type { SessionServiceDeps } from "./session-service.js";

/** A proof that is still to be checked. */
export interface Claim {
  /** The person or session that it is said to be of. */
  name: string;
  /** Whether it matches what was last read of that person or session. */
  isLikely: (block: string) => boolean | Promise<boolean>;
}

/** Tells proofs that are probably right from those that only name somebody. Nothing is accepted for it: see `createRecentRecords`. */
export function createRecentProofs(given: SessionServiceDeps) {
  const people = createRecentRecords<ApiClient>();
  const sessions = createRecentRecords<Session>();
  const deps: SessionServiceDeps = {
    ...given,
    clients: { ...given.clients, findClient: people.watch(given.clients.findClient) },
    sessions: { ...given.sessions, findSession: sessions.watch(given.sessions.findSession) },
  };
  return {
    /** These remember what they read. */
    deps,
    cookie: (cookie: string | undefined): Claim => {
      const { id, secret } = readCookie(cookie);
      const isLikely = () => {
        const session = sessions.get(id);
        return session !== undefined && isSecretOf(session, secret, deps);
      };
      return { name: id ?? "", isLikely };
    },
    invitation: (invitation: string): Claim => {
      const { id, secret } = readInvitation(invitation);
      const isLikely = () =>
        matchSecret(deps.keys, people.get(id)?.secrets ?? [], secret, deps.now()) !== undefined;
      return { name: id ?? "", isLikely };
    },
    passkey: (userHandle: string, assertion: Assertion): Claim => {
      const id = readHandle(userHandle);
      const isLikely = async (block: string) => {
        const found = findPasskey(people.get(id)?.keys ?? [], assertion.id);
        if (found === undefined) return false;
        const isChallenge = (challenge: string) => deps.challenges.verify(challenge, "login") !== undefined;
        const verified = await deps.signatureChecks.run({ key: block, member: id ?? "" }, () =>
          deps.passkeys.verifyAssertion(assertion, isChallenge, found.passkey),
        );
        return verified !== "full" && verified !== undefined;
      };
      return { name: id ?? "", isLikely };
    },
  };
}
