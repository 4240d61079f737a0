import { setTimeout as sleep } from "node:timers/promises";
import { showId } from "@bursar/protocol";
import { addressBlock } from "../../runtime/address-block.js";
import type { BoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import type { NonceStore } from "../access/authenticate-client.js";
import type { TokenClaims, TokenSigner } from "../access/tokens.js";
import { type AuditDraft, describeAct, type Origin, tenantOf } from "../audit/audit-entry.js";
import { limitRefusals } from "../audit/limit-refusals.js";
import type { ApiClient } from "../clients/client.js";
import type { ClientDeps } from "../clients/client-service.js";
import type { TenantStore } from "../clients/create-tenant.js";
import type { CredentialUses } from "../clients/credential-uses.js";
import type { AddressQuota } from "../quotas/address-quota.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { Challenges } from "./challenges.js";
import type { ConsoleAddress } from "./console-address.js";
import { findInvited, logIn, openedInvitation, originOf, registerPasskey } from "./log-in.js";
import { beginOidcLogin, finishOidcLogin, type OidcDeps } from "./oidc-login.js";
import { opened } from "./open-session.js";
import type { Assertion, Attestation, PasskeyVerifier } from "./passkey.js";
import type { PersonClient } from "./people-service.js";
import { type Claim, createRecentProofs } from "./recent-proofs.js";
import { refuseToEndSessions } from "./refuse-to-end-sessions.js";
import { type Session, type SessionStore, sessionLimits } from "./session.js";
import { findByCookie, lastAddressOf } from "./session-cookie.js";
import { createSessionMoves } from "./session-moves.js";

/** Logs people in: registers passkeys of invitations, opens and ends sessions, and issues their tokens. */
export interface SessionService {
  loginChallenge: () => { challenge: string; rpId: string; hasProvider: boolean };
  /** Begins a login with the OpenID provider: where the browser goes, and a cookie for when it is back. */
  beginProviderLogin: (from: Caller) => Promise<{ url: string; cookie: string } | Refused>;
  finishProviderLogin: (
    parameters: string,
    cookie: string | undefined,
    from: Caller,
  ) => Promise<OpenedSession | Refused>;
  registrationOptions: (invitation: string, from: Caller) => Promise<RegistrationOptions | Refused>;
  registerPasskey: (
    invitation: string,
    name: string,
    attestation: Attestation,
    from: Caller,
  ) => Promise<OpenedSession | Refused>;
  openSession: (userHandle: string, assertion: Assertion, from: Caller) => Promise<OpenedSession | Refused>;
  /** A token for 5 minutes. */
  issueSessionToken: (cookie: string | undefined, from: Caller) => Promise<SessionToken | Refused>;
  endSession: (cookie: string | undefined, from: Caller) => Promise<Refused | undefined>;
  listSessions: (tenantId: string, personId: string) => Promise<Session[] | Refused>;
  /** None for a program. */
  listOwnSessions: (tenantId: string, clientId: string) => Promise<Session[]>;
  /** Ends one session of a person, or all of them. */
  endSessionsOf: (
    origin: Origin,
    personId: string,
    sessionId: string | undefined,
  ) => Promise<Refused | undefined>;
}

export interface Caller {
  requestId: string;
  address: string;
}

export interface RegistrationOptions {
  challenge: string;
  rpId: string;
  person: PersonClient;
  /** Of an invitation, which says for which tenant it is. */
  tenantName?: string;
}

export interface OpenedSession {
  session: Session;
  /** What the cookie holds. */
  cookie: string;
  person: PersonClient;
}

interface SessionToken {
  token: string;
  claims: TokenClaims;
  session: Session;
  person: PersonClient;
}

export interface SessionServiceDeps extends ClientDeps {
  sessions: SessionStore;
  passkeys: PasskeyVerifier;
  challenges: Challenges;
  nonces: NonceStore;
  tokens: Pick<TokenSigner, "sign">;
  uses: Pick<CredentialUses, "recordPasskey">;
  addresses: AddressQuota;
  /** Takes a token of a client's quota: 0 if there is one, otherwise the number of seconds to wait. */
  takeQuota: (client: ApiClient) => number | Promise<number>;
  /** Bounds how many proofs are checked at once. Address blocks take turns. */
  checks: BoundedGate;
  /** The same for proofs that match what was last read of their person or session: wrong ones cannot fill it. */
  knownChecks: BoundedGate;
  /** Bounds the signatures that are verified to find out whether a passkey matches. */
  signatureChecks: BoundedGate;
  /** The same for calls of the OpenID provider, which can take seconds: logins with passkeys do not wait for them. */
  providerCalls: BoundedGate;
  /** Undefined if no provider is configured. */
  oidc: OidcDeps | undefined;
  tenants: Pick<TenantStore, "findTenant">;
  isSuspended: (tenantId: string) => Promise<boolean>;
  audit: { record: (draft: AuditDraft) => void };
  consoleAddress: () => ConsoleAddress;
}

/** The shortest time in which a proof is refused: it does not tell who exists. */
const failureFloorMs = 10;
const noProof = () => false;

export function createSessionService(given: SessionServiceDeps): SessionService {
  const recent = createRecentProofs({ ...given, audit: limitRefusals(given.audit, given.now) });
  const { deps } = recent;
  const moves = createSessionMoves();
  /**
   * The proof is checked first, and only failures are limited by their address: a neighbour cannot keep anybody from logging in. Cookies,
   * links and passkeys cannot be guessed, so to check each of them gives nothing away. What checking costs is bounded by a gate. The
   * proof chooses the queue, not the name that it claims. Calls of the provider are limited before: it would throttle this service, and so every login with it.
   */
  const proven = async <T>(
    from: Caller,
    claim: Claim | undefined,
    act: () => Promise<T | Refused>,
    gate = deps.checks,
  ): Promise<T | Refused> => {
    const waitFirstSeconds = gate === deps.providerCalls ? deps.addresses.wait(from.address) : 0;
    if (waitFirstSeconds > 0) return { refused: "RATE_LIMITED", retryAfterSeconds: waitFirstSeconds };
    const floor = sleep(failureFloorMs);
    const block = addressBlock(from.address);
    const { name = "", isLikely = noProof } = claim ?? {};
    const result = await ((await isLikely(block))
      ? deps.knownChecks.run(`${name} ${block}`, act)
      : gate.run({ key: block, member: name }, act));
    if (result === "full") return { refused: "RATE_LIMITED", retryAfterSeconds: 1 };
    if (!isRefused(result)) return result as T;
    // The quota of a person refuses a right proof, which is no failure of the address.
    const waitSeconds = result.refused === "RATE_LIMITED" ? 0 : deps.addresses.take(from.address);
    await floor;
    return waitSeconds === 0 ? result : { refused: "RATE_LIMITED", retryAfterSeconds: waitSeconds };
  };
  return {
    loginChallenge: () => ({
      ...{ challenge: deps.challenges.issue("login"), rpId: deps.consoleAddress().rpId },
      hasProvider: deps.oidc !== undefined,
    }),
    beginProviderLogin: (from) => proven(from, undefined, () => beginOidcLogin(deps), deps.providerCalls),
    finishProviderLogin: (parameters, cookie, from) =>
      proven(
        from,
        undefined,
        () => opened(deps, finishOidcLogin(deps, parameters, cookie, from), from),
        deps.providerCalls,
      ),
    registrationOptions: (invitation, from) =>
      proven(from, recent.invitation(invitation), async () => {
        const found = await findInvited(deps, invitation, from);
        if (isRefused(found)) return found;
        const { client } = found;
        deps.audit.record(openedInvitation(client, from, new Date(deps.now())));
        const challenge = deps.challenges.issue(`register ${client.id}`);
        const tenant = await deps.tenants.findTenant(client.tenantId);
        if (tenant === undefined) throw new Error("the tenant of a person does not exist");
        const { rpId } = deps.consoleAddress();
        return { challenge, rpId, person: client, tenantName: tenant.name };
      }),
    registerPasskey: (invitation, name, attestation, from) =>
      proven(from, recent.invitation(invitation), () =>
        opened(deps, registerPasskey(deps, invitation, name, attestation, from), from),
      ),
    openSession: (userHandle, assertion, from) =>
      proven(from, recent.passkey(userHandle, assertion), () =>
        opened(deps, logIn(deps, userHandle, assertion, from), from),
      ),
    issueSessionToken: (cookie, from) =>
      proven(from, recent.cookie(cookie), () => issueToken(deps, moves, cookie, from)),
    endSession: (cookie, from) =>
      proven(from, recent.cookie(cookie), async () => {
        const found = await findByCookie(deps, cookie);
        if (isRefused(found)) return found;
        return await endSessions(deps, originOf(found.person, from), found.person.id, [found.session.id]);
      }),
    listSessions: async (tenantId, personId) => {
      const client = await deps.clients.findClientOfTenant(tenantId, personId);
      if (client === undefined || client.person === null) return { refused: "PERSON_NOT_FOUND" };
      return await deps.sessions.listSessions(tenantId, personId, new Date(deps.now()));
    },
    listOwnSessions: (tenantId, clientId) =>
      deps.sessions.listSessions(tenantId, clientId, new Date(deps.now())),
    endSessionsOf: async (origin, personId, sessionId) => {
      const tenantId = tenantOf(origin);
      const client = await deps.clients.findClientOfTenant(tenantId, personId);
      if (client === undefined || client.person === null) return { refused: "PERSON_NOT_FOUND" };
      const refused =
        origin.by === "operator" ? undefined : await refuseToEndSessions(deps, origin, personId);
      if (refused !== undefined) return refused;
      if (sessionId === undefined) return await endSessions(deps, origin, personId, "all");
      const open = await deps.sessions.listSessions(tenantId, personId, new Date(deps.now()));
      if (!open.some(({ id }) => id === sessionId)) return { refused: "SESSION_NOT_FOUND" };
      return await endSessions(deps, origin, personId, [sessionId]);
    },
  };
}

async function issueToken(
  deps: SessionServiceDeps,
  moves: ReturnType<typeof createSessionMoves>,
  cookie: string | undefined,
  from: Caller,
): Promise<SessionToken | Refused> {
  const found = await findByCookie(deps, cookie);
  if (isRefused(found)) return found;
  const { session, person } = found;
  const waitSeconds = await deps.takeQuota(person);
  if (waitSeconds > 0) return { refused: "RATE_LIMITED", retryAfterSeconds: waitSeconds };
  const at = new Date(deps.now());
  // Its session is younger than these ends of older tokens, so the token is too, also in the second of the end.
  const issuedAtMs = Math.max(
    Math.floor(at.getTime() / 1000) * 1000,
    Math.ceil((person.disabledAt?.getTime() ?? 0) / 1000) * 1000,
    session.credentialId === null ? Math.ceil((person.resetAt?.getTime() ?? 0) / 1000) * 1000 : 0,
  );
  // A token does not outlast its session. Its times are whole seconds.
  const endsAtMs = Math.floor(session.expiresAt.getTime() / 1000) * 1000;
  const expiresAtMs = Math.min(issuedAtMs + sessionLimits.tokenLifetimeMs, endsAtMs);
  const used = { ...session, lastUsedAt: at, lastAddress: lastAddressOf(session, from) };
  const move = moves.describe(session, person, from, at);
  const isUsed = expiresAtMs > issuedAtMs && (await deps.sessions.useSession(used, move.entry));
  if (!isUsed) return { refused: "SESSION_REQUIRED" };
  move.onRecorded();
  const claims: TokenClaims = {
    tenantId: person.tenantId,
    clientId: person.id,
    tokenId: deps.newUuid(),
    sessionId: session.id,
    credentialId: session.credentialId ?? undefined,
    scopes: person.scopes,
    issuedAtMs,
    expiresAtMs,
  };
  return { token: await deps.tokens.sign(claims), claims, session: used, person };
}

async function endSessions(
  { sessions, access, now }: SessionServiceDeps,
  origin: Origin,
  personId: string,
  ids: readonly [string] | "all",
): Promise<undefined> {
  const at = new Date(now());
  const object = ids === "all" ? showId("cli", personId) : showId("ses", ids[0]);
  const audit = describeAct(origin, "session.end", object, at);
  await sessions.endSessions({ tenantId: tenantOf(origin), clientId: personId }, ids, at, audit);
  access.forget(personId);
}
