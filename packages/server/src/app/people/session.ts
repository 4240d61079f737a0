import type { AuditDraft } from "../audit/audit-entry.js";
import type { ApiClient } from "../clients/client.js";

/** A session of the console, as it is stored. */
export interface Session {
  id: string;
  tenantId: string;
  clientId: string;
  /** Of the secret in the cookie. */
  hash: Uint8Array;
  /** The passkey that it was opened with, and ends with; null if it was opened with an OpenID provider. */
  credentialId: string | null;
  address: string;
  /** Where it was last used from; null if only from where it was opened. */
  lastAddress: string | null;
  createdAt: Date;
  lastUsedAt: Date;
  expiresAt: Date;
  endedAt: Date | null;
}

export interface SessionStore {
  /**
   * A person has at most `sessionLimits.openMax` open ones: those that were used least recently are ended, which is recorded too. Returns
   * whether there were any. Undefined, and nothing is written, if `isProven` says that the person, who is locked, was changed since.
   */
  createSession: (
    session: Session,
    audit: AuditDraft,
    describeEnd: (sessionId: string) => AuditDraft,
    isProven: (person: ApiClient) => boolean,
  ) => Promise<{ hasEndedOthers: boolean } | undefined>;
  /** Undefined also if something else has written it. */
  findSession: (id: string) => Promise<Session | undefined>;
  /** Records that it was used, as it is given, with an entry if it was used from elsewhere. False if it has ended meanwhile. */
  useSession: (session: Session, audit: AuditDraft | undefined) => Promise<boolean>;
  /** Newest first, those that are open at this time. */
  listSessions: (tenantId: string, clientId: string, at: Date) => Promise<Session[]>;
  /** Ends these sessions of a person or all of them, and all their tokens; returns the ids of those that had not ended. */
  endSessions: (
    person: { tenantId: string; clientId: string },
    ids: readonly string[] | "all",
    at: Date,
    audit: AuditDraft,
  ) => Promise<string[]>;
}

export const sessionLimits = {
  openMax: 50,
  idleMs: 30 * 60_000,
  lifetimeMs: 12 * 3_600_000,
  tokenLifetimeMs: 5 * 60_000,
};

export function isOpen({ endedAt, expiresAt, lastUsedAt }: Session, atMs: number): boolean {
  return endedAt === null && atMs < expiresAt.getTime() && atMs < lastUsedAt.getTime() + sessionLimits.idleMs;
}
