import {
  allScopes,
  isOperatorScope,
  operatorScopes,
  protectingScopes,
  type Scope,
  showId,
} from "@bursar/protocol";
import type { Origin } from "../audit/audit-entry.js";
import { refuseUnseen } from "../people/visible-text.js";
import type { Refused } from "../requests/refused.js";
import type { ApiClient, ClientChange, ClientFacts } from "./client.js";

export { protectingScopes };

/** A client with one of these is protected. */
const protectedScopes: readonly Scope[] = [...protectingScopes, ...operatorScopes];

/**
 * A protected client decides about other clients' requests, names those that do, or creates money. Its credentials, scopes, state and `requireSignature`
 * are changed by itself, by the operator, or by an approved change request: a client that could give it a new credential could act as it.
 * So is one that the operator has disabled, also in a tenant with a single administrator.
 */
export function isProtected(client: Pick<ApiClient, "scopes">, facts: ClientFacts): boolean {
  if (facts.isStoppedByOperator) return true;
  if (facts.isSingleAdministrator) return false;
  return facts.isNamedByPolicy || protectedScopes.some((scope) => client.scopes.includes(scope));
}

/** The refusal of a change by another client. Nothing is exempt from a stop by the operator. */
export function refuseProtected(
  client: ApiClient,
  facts: ClientFacts,
  isExempt: (client: ApiClient) => boolean = () => false,
): Refused | undefined {
  if (!isProtected(client, facts) || (!facts.isStoppedByOperator && isExempt(client))) return undefined;
  const held = protectedScopes.filter((scope) => client.scopes.includes(scope));
  const others = held.length > 0 ? `it holds ${held.join(", ")}` : "the policy names it";
  const reason = facts.isStoppedByOperator ? "the operator has disabled it" : others;
  return {
    refused: "CHANGE_REQUEST_REQUIRED",
    message: `The client is protected, because ${reason}. Another client must approve this change: see POST /v1/change-requests.`,
  };
}

/** With a single administrator one client can request and approve a change. It does not end a stop by the operator so. */
export function refuseToEndStop(
  { state }: Pick<ApiClient, "state">,
  { isStoppedByOperator, isSingleAdministrator }: ClientFacts,
  { set }: ClientChange,
): Refused | undefined {
  const isEnd = state === "disabled" && set?.state === "active";
  if (!isEnd || !isStoppedByOperator || !isSingleAdministrator) return undefined;
  return {
    refused: "INSUFFICIENT_SCOPE",
    message:
      "The operator has disabled the client, and the tenant has a single administrator. Only the operator enables it, with `bursar client enable`.",
  };
}

/**
 * The scopes that a change gives: those that are added, or all of them if a disabled client is enabled, or a secret is to suffice where
 * signatures were required.
 */
export function scopesGained(
  client: Pick<ApiClient, "scopes" | "state" | "requireSignature">,
  { scopes = client.scopes, state, requireSignature }: RaisingChange,
): readonly Scope[] {
  const isEnabled = client.state === "disabled" && state === "active";
  const isUnsigned = client.requireSignature && requireSignature === false;
  return isEnabled || isUnsigned ? scopes : scopes.filter((scope) => !client.scopes.includes(scope));
}

/** What of a change can raise what a client may do. */
export type RaisingChange = Pick<NonNullable<ClientChange["set"]>, "scopes" | "state" | "requireSignature">;

/** The refusal of scopes that another client, which may have kept a credential of this one, would get as well. */
export function refuseScopesOfController(
  { person }: Pick<ApiClient, "person">,
  controllerId: string | "too_many",
  added: readonly Scope[],
): Refused {
  const reason =
    controllerId === "too_many"
      ? "More clients can act as it than are compared"
      : `${showId("cli", controllerId)} can act as it, and is disabled or does not have all of them`;
  const command = person === null ? "bursar client reset" : "bursar people recover";
  const byOperator = `the operator replaces its credentials first, with \`${command}\`.`;
  const way =
    controllerId === "too_many"
      ? `First ${byOperator}`
      : `A client that does not get them with it must approve this change: see POST /v1/change-requests. Or ${byOperator}`;
  return {
    refused: "CHANGE_REQUEST_REQUIRED",
    message: `The client would get ${added.join(", ")}. ${reason}. ${way}`,
  };
}

/**
 * Some scopes only the operator grants, when it creates the client. A client that holds one cannot pass it on either: its copies would
 * have the operator's word without the operator's decision.
 */
export function refuseOperatorScopes(
  origin: Pick<Origin, "by">,
  wanted: readonly Scope[],
  held: readonly Scope[],
): Refused | undefined {
  if (origin.by === "operator") return undefined;
  const granted = wanted.filter((scope) => isOperatorScope(scope) && !held.includes(scope));
  if (granted.length === 0) return undefined;
  return {
    refused: "INSUFFICIENT_SCOPE",
    message: `Only the operator grants ${granted.join(", ")}, to a client that it creates with \`bursar client create\`.`,
  };
}

const administration: Scope = "clients:manage";

/**
 * What a client does to its own authority. A person who disables themselves and is the last administrator leaves nobody in the console who
 * can enable them. If another client does it, that client has the same scopes, and can.
 */
export function refuseOwnChange(
  client: ApiClient,
  { hasOtherAdministrator }: ClientFacts,
  { set = {} }: ClientChange,
): Refused | undefined {
  if (client.state === "disabled") return { refused: "TOKEN_REVOKED" };
  const { state = client.state, scopes = client.scopes } = set;
  const isAdministrator = client.person !== null && client.scopes.includes(administration);
  const stays = state === "active" && scopes.includes(administration);
  return isAdministrator && !stays && !hasOtherAdministrator
    ? { refused: "ADMINISTRATOR_IS_LAST" }
    : undefined;
}

export const refuseAppearance: Refused = {
  refused: "CHANGE_REQUEST_REQUIRED",
  message: "The client is protected. Only the client itself or the operator can change its name and quotas.",
};

/** Approvers read names, and a client with a quota of almost nothing cannot decide in time. */
export function changesAppearance(client: ApiClient, { set = {} }: ClientChange): boolean {
  const { name = client.name, quotas = client.quotas } = set;
  return name !== client.name || JSON.stringify(quotas) !== JSON.stringify(client.quotas);
}

/**
 * Whether a change touches credentials, scopes, state, role or `requireSignature`. A name or a quota gives no authority. If the operator, for
 * whom `by` is null, disables a client that is disabled already, the stop is the operator's from then on.
 */
export function changesAuthority(client: ApiClient, change: ClientChange, by?: string | null): boolean {
  const {
    scopes = client.scopes,
    state = client.state,
    requireSignature = client.requireSignature,
    person = client.person,
  } = change.set ?? {};
  return (
    change.addSecret !== undefined ||
    change.expireSecrets !== undefined ||
    (change.removeSecretIds ?? []).length > 0 ||
    change.addKey !== undefined ||
    (change.removeKeyIds ?? []).length > 0 ||
    state !== client.state ||
    (by === null && change.set?.state === "disabled") ||
    requireSignature !== client.requireSignature ||
    person?.role !== client.person?.role ||
    !areSame(scopes, client.scopes)
  );
}

/** Whether all that a change sets is that the client is disabled. */
export function onlyDisables(client: ApiClient, { set = {}, ...change }: ClientChange): boolean {
  const { state, ...rest } = set;
  return state === "disabled" && Object.keys(rest).length === 0 && !changesAuthority(client, change);
}

/** Whether the client could do more after a change: it gains a scope or a credential, or a secret suffices where signatures were required. */
export function givesAuthority(client: ApiClient, { set, addSecret, addKey }: ClientChange): boolean {
  return addSecret !== undefined || addKey !== undefined || scopesGained(client, set ?? {}).length > 0;
}

function areSame(one: readonly Scope[], other: readonly Scope[]): boolean {
  return one.length === other.length && one.every((scope) => other.includes(scope));
}

/**
 * A caller can only grant scopes that it holds, and can only change clients whose scopes it holds: otherwise it could give a more
 * powerful client a new secret and use that. The operator has access to the database and is not limited.
 */
export function refuseBeyondScopes(origin: Origin, scopes: readonly Scope[]): Refused | undefined {
  const missing = scopesBeyond(origin, scopes);
  if (missing.length === 0) return undefined;
  return { refused: "INSUFFICIENT_SCOPE", message: `The caller needs the scopes ${missing.join(", ")}.` };
}

/** The scopes that the caller lacks. */
export function scopesBeyond(origin: Origin, scopes: readonly Scope[]): Scope[] {
  const held: ReadonlySet<Scope> = origin.by === "operator" ? new Set(allScopes) : origin.principal.scopes;
  return scopes.filter((scope) => !held.has(scope));
}

/** What a new client of programs must not have. */
export function refuseNewProgram(
  origin: Origin,
  { name, scopes }: { name: string; scopes: readonly Scope[] },
): Refused | undefined {
  return (
    refuseUnseen({ name }) ?? refuseOperatorScopes(origin, scopes, []) ?? refuseBeyondScopes(origin, scopes)
  );
}

/** A person has the scopes of a role, and never signs requests with a key of a program. Approvers read the names of both. */
export function refuseProgramChange(
  { person }: Pick<ApiClient, "person">,
  { scopes, require_signature, name }: { scopes?: unknown; require_signature?: unknown; name?: string },
): Refused | undefined {
  const isOfPrograms = scopes !== undefined || require_signature !== undefined;
  return person !== null && isOfPrograms
    ? { refused: "CLIENT_IS_PERSON" }
    : refuseUnseen(name === undefined ? {} : { name });
}

const credentialActions: ReadonlySet<string> = new Set([
  "client.reset",
  "secret.rotate",
  "secret.remove",
  "key.add",
  "key.remove",
]);

/** The only secret of a person is the invitation, and its keys are passkeys. */
export function refuseCredentialOfPerson(
  { person }: Pick<ApiClient, "person">,
  action: string,
): Refused | undefined {
  return person !== null && credentialActions.has(action) ? { refused: "CLIENT_IS_PERSON" } : undefined;
}
