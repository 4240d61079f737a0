import { isVisibleLine, showId } from "@bursar/protocol";
import type { OperatorOrigin } from "../audit/audit-entry.js";
import type { ProviderAccount } from "../clients/client.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { isActive, refusedSession } from "./log-in.js";
import type { PersonClient } from "./people-service.js";
import { nameAccount } from "./provider-account.js";
import type { ProviderPeople } from "./provider-people.js";
import type { Caller, SessionServiceDeps } from "./session-service.js";
import { isVisibleAddress } from "./visible-text.js";

/** What has to be remembered while the browser is with the provider. */
export interface PendingLogin {
  state: string;
  nonce: string;
  verifier: string;
}

/** The claims of an ID token that was verified. */
type OidcAnswer = Readonly<Record<string, unknown>>;

export interface OidcProvider {
  /** Where the browser goes. */
  begin: () => Promise<{ url: string; pending: PendingLogin } | "unavailable">;
  /** `parameters` is the query that the browser came back with. */
  finish: (parameters: string, pending: PendingLogin) => Promise<OidcAnswer | "refused" | "unavailable">;
}

/** A row of the mapping: who has this value in the claim gets this role in this tenant. */
export interface OidcRole {
  value: string;
  tenantId: string;
  role: string;
}

export interface OidcDeps {
  provider: OidcProvider;
  roleClaim: string;
  /** The first row that fits decides. */
  rows: readonly OidcRole[];
  people: ProviderPeople;
  seal: (content: Uint8Array) => Uint8Array;
  open: (sealed: Uint8Array) => Uint8Array | undefined;
}

const pendingLifetimeMs = 10 * 60_000;
const unavailable: Refused = { refused: "OIDC_UNAVAILABLE" };
const refusedLogin: Refused = { refused: "OIDC_REFUSED" };

interface Remembered extends PendingLogin {
  expiresAtMs: number;
}

/** The cookie holds what is remembered, encrypted: no process has to know the login that another one has begun. */
export async function beginOidcLogin({
  oidc,
  now,
}: Pick<SessionServiceDeps, "oidc" | "now">): Promise<{ url: string; cookie: string } | Refused> {
  const begun = await oidc?.provider.begin();
  if (oidc === undefined || begun === undefined || begun === "unavailable") return unavailable;
  const remembered: Remembered = { ...begun.pending, expiresAtMs: now() + pendingLifetimeMs };
  const cookie = Buffer.from(oidc.seal(Buffer.from(JSON.stringify(remembered)))).toString("base64url");
  return { url: begun.url, cookie };
}

interface LoggedIn {
  person: PersonClient;
  keyId: null;
}

/** The person of a login with the provider, who is created if it is the first one. A refusal is in the audit log, of the tenant if that is known. */
export async function finishOidcLogin(
  deps: SessionServiceDeps,
  parameters: string,
  cookie: string | undefined,
  from: Caller,
): Promise<LoggedIn | Refused> {
  const seen: Seen = { names: [] };
  const result = await provePerson(deps, parameters, cookie, from, seen);
  if (isRefused(result) && result.refused !== "OIDC_UNAVAILABLE") {
    const { tenantId, personId, names } = seen;
    const object = personId === undefined ? null : showId("cli", personId);
    const objects = object === null ? names : [object, ...names];
    deps.audit.record({
      ...refusedSession(from, new Date(deps.now())),
      ...{ tenantId, object, objects: objects.length === 0 ? null : objects, code: result.refused },
    });
  }
  return result;
}

/** What a login is about, as far as it was found out before it was refused. */
interface Seen {
  tenantId?: string;
  personId?: string;
  /** The account, and the address that the provider has verified. */
  names: string[];
}

async function provePerson(
  deps: SessionServiceDeps,
  parameters: string,
  cookie: string | undefined,
  { requestId, address }: Caller,
  seen: Seen,
): Promise<LoggedIn | Refused> {
  const { oidc, nonces, now } = deps;
  if (oidc === undefined) return unavailable;
  const opened = oidc.open(Buffer.from(cookie ?? "", "base64url"));
  if (opened === undefined) return refusedLogin;
  const pending = JSON.parse(Buffer.from(opened).toString("utf8")) as Remembered;
  if (pending.expiresAtMs <= now()) return refusedLogin;
  const answer = await oidc.provider.finish(parameters, pending);
  if (answer === "unavailable") return unavailable;
  if (answer === "refused") return refusedLogin;
  const row = findRow(oidc, answer);
  const email = emailOf(answer);
  const account = accountOf(answer);
  if (account === undefined) return refusedLogin;
  seen.names = [nameAccount(account), ...(email == null ? [] : [email])];
  if (row !== undefined) seen.tenantId = row.tenantId;
  if (row === undefined || email === undefined) return { refused: "OIDC_NO_ROLE" };
  if (await deps.isSuspended(row.tenantId)) return { refused: "TENANT_SUSPENDED" };
  const origin: OperatorOrigin = {
    ...{ by: "operator", tenantId: row.tenantId },
    login: { requestId, address },
  };
  const { role } = row;
  const person = await oidc.people.findOrCreatePerson(origin, {
    ...{ account, email, name: nameOf(answer, email ?? ""), role },
    onFound: (personId) => {
      seen.personId = personId;
    },
  });
  if (isRefused(person)) return person;
  if (!isActive(person)) return refusedLogin;
  const isFirst = await nonces.useNonce(person, `oidc:${pending.state}`, new Date(pending.expiresAtMs));
  // The person is read once more, and locked, when the session is written.
  return isFirst ? { person, keyId: null } : refusedLogin;
}

function findRow({ roleClaim, rows }: OidcDeps, answer: OidcAnswer): OidcRole | undefined {
  const claim = answer[roleClaim];
  const values: readonly unknown[] = Array.isArray(claim) ? claim : [claim];
  return rows.find(({ value }) => values.includes(value));
}

/**
 * An address that the provider has not verified could be anybody's, and one with characters that nobody sees looks like another one: null. The
 * person of an account that is known keeps the address that is stored then.
 */
function emailOf({ email, email_verified }: OidcAnswer): string | null | undefined {
  if (typeof email !== "string" || email_verified !== true) return undefined;
  if (!isVisibleAddress(email)) return null;
  return email.length <= 254 && /^[^\s@<>()[\],;:"\\]+@[^\s@<>()[\],;:"\\]+$/.test(email) ? email : undefined;
}

/** The subject is at most 255 characters of ASCII, says the standard. */
function accountOf({ iss, sub }: OidcAnswer): ProviderAccount | undefined {
  if (typeof iss !== "string" || typeof sub !== "string" || !/^[\x20-\x7e]{1,255}$/.test(sub))
    return undefined;
  return { issuer: iss, subject: sub };
}

function nameOf({ name }: OidcAnswer, email: string): string {
  const isUsable = typeof name === "string" && name.trim() !== "" && isVisibleLine(name.trim());
  // A pair of surrogates that is cut in two would be stored as another character.
  return (isUsable ? name.trim() : email).slice(0, 128).toWellFormed();
}
