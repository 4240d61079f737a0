import { isDeepStrictEqual } from "node:util";
import { type ChangeKind, type ChangeOf, readId, showId } from "@bursar/protocol";
import type { IntegrityKeys } from "../access/integrity-keys.js";
import { type ClientOrigin, describeLateAct } from "../audit/audit-entry.js";
import type {
  ApiClient,
  AuthorityChange,
  ClientAccessCache,
  ClientChange,
  ClientStore,
  DecideClientChange,
} from "../clients/client.js";
import {
  changesAuthority,
  givesAuthority,
  type RaisingChange,
  refuseBeyondScopes,
  refuseCredentialOfPerson,
  refuseOperatorScopes,
  refuseProgramChange,
  refuseToEndStop,
} from "../clients/client-authority.js";
import { keysMax } from "../clients/client-credentials.js";
import { type CredentialProof, refuseUnproven } from "../clients/prove-credential.js";
import { findRole, type Role, type RoleStore, withRole } from "../people/role.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { type ChangeExecutor, type CheckedChange, refuseWithoutScope } from "./change-executor.js";
import type { ChangeRequest, ChangeStanding, ChangeUnit } from "./change-request.js";

type ClientKind = Extract<ChangeKind, `client.${string}` | `person.${string}`>;

export interface ClientExecutorDeps {
  clients: Pick<ClientStore, "findClientOfTenant">;
  access: Pick<ClientAccessCache, "forget">;
  roles: Pick<RoleStore, "findRole">;
  isPublicKey: (raw: Uint8Array) => boolean;
  /** Key the hashes of secrets. */
  keys: IntegrityKeys;
  newUuid: () => string;
  now: () => number;
}

/** How a kind of change to a client is decided, and whether the requester could act as the client afterwards. */
interface ClientKindRule<Kind extends ClientKind> {
  audited: string;
  /** Whether the client loses something by it. */
  takes?: boolean;
  /** Whether a client that requests it for itself has to prove a current credential. */
  needsProof?: boolean;
  controllers: AuthorityChange["controllers"];
  /** What the client is set to that can let it do more. */
  raises?: (change: ChangeOf<Kind>) => RaisingChange;
  decide: (client: ApiClient, change: ChangeOf<Kind>, request: NewCredential) => ClientChange | Refused;
  /** What the ids of the change stand for, as it is when it is requested. */
  describe?: (client: ApiClient, change: ChangeOf<Kind>) => Partial<ChangeOf<Kind>>;
}

/** What the change is made with: who requests it, the id of what it adds, and the role that it names. */
interface NewCredential {
  role: Role | undefined;
  id: string;
  addedBy: string;
  createdAt: Date;
}

/**
 * Changes of clients, most of all of protected ones. One approval suffices. No secret travels through a change request: a new secret is
 * made by the client itself or by the operator.
 */
export function createClientExecutors(deps: ClientExecutorDeps): {
  [Kind in ClientKind]: ChangeExecutor<Kind>;
} {
  return {
    "client.change": clientExecutor(deps, {
      audited: "client.change",
      controllers: "unchanged",
      takes: true,
      // Beside a role, the request was stored with the role's scopes.
      raises: ({ scopes, state, require_signature }) => ({
        ...(scopes === undefined ? {} : { scopes }),
        ...(state === undefined ? {} : { state }),
        ...(require_signature === undefined ? {} : { requireSignature: require_signature }),
      }),
      decide: (client, { scopes, state, require_signature, cancel }, { role }) => {
        const ofProgram = refuseProgramChange(client, { scopes, require_signature });
        if (ofProgram !== undefined) return ofProgram;
        if (role !== undefined && client.person === null)
          return invalid("role", "is possible only for a person");
        const ungrantable = refuseOperatorScopes({ by: "client" }, scopes ?? [], client.scopes);
        if (ungrantable !== undefined) return ungrantable;
        if (cancel !== undefined && (state ?? client.state) !== "disabled")
          return invalid("cancel", "is possible only for a client that is disabled");
        const change: ClientChange = {
          ...(cancel === undefined ? {} : { cancel }),
          set: {
            ...(scopes === undefined ? {} : { scopes }),
            ...(role === undefined || client.person === null ? {} : withRole(client.person, role)),
            ...(state === undefined ? {} : { state }),
            ...(require_signature === undefined ? {} : { requireSignature: require_signature }),
          },
        };
        return cancel === undefined && !changesAuthority(client, change)
          ? invalid("client_id", "is as the change would leave it")
          : change;
      },
      describe: (client, { scopes, role }) =>
        scopes === undefined && role === undefined ? {} : { scopes_before: [...client.scopes] },
    }),
    "client.key.add": clientExecutor(deps, {
      audited: "key.add",
      controllers: "added",
      needsProof: true,
      decide: ({ keys, person }, { public_key }, { role: _role, ...made }) => {
        const ofPerson = refuseCredentialOfPerson({ person }, "key.add");
        if (ofPerson !== undefined) return ofPerson;
        const material = Buffer.from(public_key, "base64url");
        if (!deps.isPublicKey(material)) return invalid("public_key", "is not an Ed25519 public key");
        if (keys.some((key) => Buffer.from(key.material).equals(material)))
          return invalid("public_key", "is a key of this client already");
        if (keys.length >= keysMax) return { refused: "KEY_LIMIT_REACHED" };
        return { addKey: { ...made, algorithm: "ed25519", material, expiresAt: null, lastUsedAt: null } };
      },
    }),
    "client.key.remove": clientExecutor(deps, {
      audited: "key.remove",
      controllers: "unchanged",
      takes: true,
      decide: ({ keys, person }, { key_id }) => {
        const id = readId("key", key_id);
        return (
          refuseCredentialOfPerson({ person }, "key.remove") ??
          (keys.some((key) => key.id === id)
            ? { removeKeyIds: [id ?? ""] }
            : { refused: "CREDENTIAL_NOT_FOUND" })
        );
      },
      describe: ({ keys }, { key_id }) => {
        const key = keys.find(({ id }) => id === readId("key", key_id));
        if (key === undefined) return {};
        return { public_key: Buffer.from(key.material).toString("base64url"), ...factsOf(key) };
      },
    }),
    "client.secret.remove": clientExecutor(deps, {
      audited: "secret.remove",
      controllers: "unchanged",
      takes: true,
      decide: ({ secrets, person }, { secret_id }) => {
        const id = readId("sec", secret_id);
        return (
          refuseCredentialOfPerson({ person }, "secret.remove") ??
          (secrets.some((secret) => secret.id === id)
            ? { removeSecretIds: [id ?? ""] }
            : { refused: "CREDENTIAL_NOT_FOUND" })
        );
      },
      describe: ({ secrets }, { secret_id }) => {
        const secret = secrets.find(({ id }) => id === readId("sec", secret_id));
        return secret === undefined ? {} : factsOf(secret);
      },
    }),
    // Afterwards the requester makes a new invitation: no link travels through a change request. The person can reject it.
    "person.recover": clientExecutor(deps, {
      audited: "person.recover",
      controllers: "added",
      decide: ({ id, person, keys, secrets }, _change, { addedBy }) => {
        if (person === null) return { refused: "PERSON_NOT_FOUND" };
        if (addedBy === id) return invalid("client_id", "is the person who requests it");
        return {
          removeKeyIds: keys.map((key) => key.id),
          removeSecretIds: secrets.map((secret) => secret.id),
          set: { person: { ...person, linkBy: addedBy } },
        };
      },
      describe: ({ name, person }) => ({ name, ...(person === null ? {} : { email: person.email }) }),
    }),
  };
}

function clientExecutor<Kind extends ClientKind>(
  deps: ClientExecutorDeps,
  rule: ClientKindRule<Kind>,
): ChangeExecutor<Kind> {
  return {
    check: (origin, change, proof) => check(deps, rule, origin, change, proof),
    apply: (unit, request, requester, now) => apply(deps, rule, unit, request, requester, now),
    raiseOf: (change) => {
      const clientId = readId("cli", change.client_id);
      return clientId === undefined ? undefined : rule.raises && { clientId, set: rule.raises(change) };
    },
    ...(rule.takes === true ? { loserOf: ({ client_id }) => readId("cli", client_id) } : {}),
    onApplied: ({ change }) => deps.access.forget(readId("cli", change.client_id) ?? ""),
  };
}

/** A client may ask for a change of itself, for a new key with proof of a credential; for a change of another one it needs `clients:manage` and that client's scopes. */
async function check<Kind extends ClientKind>(
  { clients, roles, keys, newUuid, now }: ClientExecutorDeps,
  { decide, needsProof, describe }: ClientKindRule<Kind>,
  origin: ClientOrigin,
  change: ChangeOf<Kind>,
  proof: CredentialProof,
): Promise<CheckedChange<Kind> | Refused> {
  const { tenantId, clientId } = origin.principal;
  const id = readId("cli", change.client_id);
  const client = id === undefined ? undefined : await clients.findClientOfTenant(tenantId, id);
  const mayManage = refuseWithoutScope(origin, "clients:manage");
  if (id !== clientId && mayManage !== undefined) return mayManage;
  if (client === undefined) return { refused: "CLIENT_NOT_FOUND" };
  const role = await roleOf(roles, tenantId, change);
  if (isRefused(role)) return role;
  const wanted = role?.scopes ?? (change as { scopes?: ApiClient["scopes"] }).scopes ?? [];
  const beyond = refuseBeyondScopes(origin, id === clientId ? wanted : [...client.scopes, ...wanted]);
  if (beyond !== undefined) return beyond;
  // Another client approves it, but the two could act together: a stolen token of one would become a key that lasts.
  const unproven =
    needsProof === true && id === clientId ? refuseUnproven({ keys, now }, client, proof) : undefined;
  if (unproven !== undefined) return unproven;
  const made = { id: newUuid(), addedBy: clientId, createdAt: client.createdAt, role };
  const refused = decide(client, change, made);
  if (isRefused(refused)) return refused;
  return {
    target: change.client_id,
    requirement: { approvals: 1, clientIds: null, delaySeconds: 0 },
    // Another role can have the name by the time of the approval: what is approved are the scopes.
    change: {
      ...change,
      ...(role === undefined ? {} : { scopes: role.scopes }),
      ...describe?.(client, change),
    },
  };
}

async function apply<Kind extends ClientKind>(
  { roles, newUuid }: ClientExecutorDeps,
  { audited, controllers, decide }: ClientKindRule<Kind>,
  unit: ChangeUnit,
  request: ChangeRequest<Kind>,
  requester: ChangeStanding["requester"],
  now: Date,
): Promise<Refused | undefined> {
  const { tenantId, requestedBy, change, createdAt } = request;
  const id = readId("cli", change.client_id) ?? "";
  const isSelf = id === requestedBy;
  const role = await roleOf(roles, tenantId, change);
  if (isRefused(role)) return role;
  const approved = (change as { scopes?: ApiClient["scopes"] }).scopes;
  if (role !== undefined && !isDeepStrictEqual(role.scopes, approved))
    return { refused: "CHANGE_REQUEST_STALE", message: `The role ${role.name} has other scopes now.` };
  // Nobody requests scopes for a person: those beside a role are the role's.
  const asked = role === undefined ? change : { ...change, scopes: undefined };
  const decideAgain: DecideClientChange = (client, facts) => {
    const wanted = approved ?? [];
    const needed: string[] = isSelf ? [...wanted] : ["clients:manage", ...client.scopes, ...wanted];
    if (!needed.every((scope) => requester.scopes.includes(scope))) return { refused: "INSUFFICIENT_SCOPE" };
    const made = { id: newUuid(), addedBy: requestedBy, createdAt: now, role };
    const decided = decide(client, asked, made);
    if (isRefused(decided)) return decided;
    // What only takes is applied to the client as it is now: by changing itself the client would void every request to disable it.
    const gives = controllers === "added" || givesAuthority(client, decided);
    if (gives && client.authorityChangedAt >= createdAt) return { refused: "CHANGE_REQUEST_STALE" };
    const unended = refuseToEndStop(client, facts, decided);
    if (unended !== undefined) return unended;
    return { ...decided, authority: { by: requestedBy, controllers: isSelf ? "unchanged" : controllers } };
  };
  const audit = describeLateAct(request, audited, showId("cli", id), now);
  const changed = await unit.changeClient(tenantId, id, decideAgain, audit);
  if (changed === undefined) return { refused: "CLIENT_NOT_FOUND" };
  return isRefused(changed) ? changed : undefined;
}

/** The role that a change gives to a person. */
async function roleOf(
  roles: Pick<RoleStore, "findRole">,
  tenantId: string,
  change: object,
): Promise<Role | Refused | undefined> {
  const { role } = change as { role?: string };
  return role === undefined ? undefined : await findRole(roles, tenantId, role);
}

function invalid(field: string, reason: string): Refused {
  return { refused: "INVALID_REQUEST", details: [{ path: `body.change.${field}`, reason }] };
}

function factsOf({ createdAt, lastUsedAt }: { createdAt: Date; lastUsedAt: Date | null }) {
  return { created_at: createdAt.toISOString(), last_used_at: lastUsedAt?.toISOString() ?? null };
}
