import { type ChangeClientBody, type CreateClientBody, showId } from "@bursar/protocol";
import type { KeyedMutex } from "../../runtime/concurrency/keyed-mutex.js";
import type { IntegrityKeys } from "../access/integrity-keys.js";
import type { StopInAnyCase } from "../access/stop-in-any-case.js";
import { actorOf, describeAct, type Origin, tenantOf } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import { type ClientQuotas, findBeyond, type Quotas, readClientQuotas } from "../quotas/client-quotas.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type {
  ApiClient,
  ClientAccessCache,
  ClientChange,
  ClientFacts,
  ClientStore,
  DecideClientChange,
  KeyedChange,
} from "./client.js";
import {
  changesAppearance,
  changesAuthority,
  isProtected,
  refuseAppearance,
  refuseBeyondScopes,
  refuseCredentialOfPerson,
  refuseNewProgram,
  refuseOperatorScopes,
  refuseOwnChange,
  refuseProgramChange,
  refuseProtected,
} from "./client-authority.js";
import { hashSecret, newSecret } from "./client-secret.js";
import { disableClient, refuseToCancel } from "./disable-client.js";
import { callerReviewOf, describeActOn, describeReviewedAct } from "./review-caller.js";

/** Creates, reads and changes API clients. Their secrets and keys are managed in `client-credentials.ts`. */
export interface ClientService {
  createClient: (
    origin: Origin,
    body: CreateClientBody,
    idempotencyKey: string | undefined,
  ) => Promise<CreatedClient | Refused>;
  readClient: (tenantId: string, clientId: string) => Promise<ApiClient | Refused>;
  listClients: ClientStore["listClients"];
  changeClient: (origin: Origin, clientId: string, body: ChangeClientBody) => Promise<ApiClient | Refused>;
}

export interface CreatedClient {
  client: ApiClient;
  /** Null if an earlier request with the same idempotency key created the client: a secret is shown once. */
  secret: string | null;
}

export interface ClientDeps {
  clients: ClientStore;
  /** Serialises changes of the same client in this process. */
  changes: KeyedMutex;
  access: ClientAccessCache;
  /** Key the hashes of secrets. */
  keys: IntegrityKeys;
  /** The service's default quotas. */
  defaultQuotas: Quotas;
  newUuid: () => string;
  randomBytes: (count: number) => Uint8Array;
  now: () => number;
}

export interface ClientServiceDeps extends ClientDeps {
  stopInAnyCase: StopInAnyCase;
  recorder: Pick<AuditRecorder, "recordAct">;
  /** The most clients that a tenant may have. */
  clientsMax: number;
  /** Called when a client was disabled or enabled: begins with what that leaves to do. */
  onStateChanged: (client: ApiClient) => Promise<void>;
}

export function createClientService(deps: ClientServiceDeps): ClientService {
  return {
    createClient: (origin, body, idempotencyKey) => createClient(deps, origin, body, idempotencyKey),
    readClient: async (tenantId, id) =>
      (await deps.clients.findClientOfTenant(tenantId, id)) ?? { refused: "CLIENT_NOT_FOUND" },
    listClients: deps.clients.listClients,
    changeClient: (origin, clientId, body) => changeClient(deps, origin, clientId, body),
  };
}

async function createClient(
  { clients, clientsMax, keys, newUuid, randomBytes, now }: ClientServiceDeps,
  origin: Origin,
  body: CreateClientBody,
  idempotencyKey: string | undefined,
): Promise<CreatedClient | Refused> {
  const refused = refuseNewProgram(origin, body);
  if (refused !== undefined) return refused;
  const { client, secret } = draftClient({ keys, newUuid, randomBytes, now }, origin, body);
  const request = idempotentRequest(idempotencyKey, body);
  const result = await clients.createClient(
    client,
    request,
    describeReviewedAct(origin, "client.create", showId("cli", client.id), client.createdAt),
    // The operator can always add one, also to a tenant that a client has filled.
    origin.by === "operator" ? Number.MAX_SAFE_INTEGER : clientsMax,
    callerReviewOf(origin, now),
  );
  if (isRefused(result)) return result;
  if (result === "too_many") return { refused: "CLIENT_LIMIT_REACHED" };
  if ("created" in result) return { client: result.created, secret };
  const { earlier, requestHash } = result;
  return replay(requestHash, request?.hash, () => ({ client: earlier, secret: null }));
}

/** A new client with one secret, as it is stored. */
export function draftClient(
  { keys, newUuid, randomBytes, now }: Pick<ClientDeps, "keys" | "newUuid" | "randomBytes" | "now">,
  origin: Origin,
  body: CreateClientBody,
): { client: ApiClient; secret: string } {
  const secret = newSecret(randomBytes);
  const createdAt = new Date(now());
  const createdBy = actorOf(origin);
  const client: ApiClient = {
    id: newUuid(),
    tenantId: tenantOf(origin),
    name: body.name,
    scopes: body.scopes,
    state: "active",
    requireSignature: body.require_signature ?? false,
    person: null,
    quotas: {},
    secrets: [
      {
        id: newUuid(),
        ...hashSecret(keys, secret),
        addedBy: actorOf(origin),
        createdAt,
        expiresAt: null,
        lastUsedAt: null,
      },
    ],
    keys: [],
    createdBy,
    authorityChangedBy: actorOf(origin),
    authorityChangedAt: createdAt,
    controllers: createdBy === null ? [] : [createdBy],
    resetAt: null,
    createdAt,
    updatedAt: createdAt,
    disabledAt: null,
  };
  return { client, secret };
}

async function changeClient(
  deps: ClientServiceDeps,
  origin: Origin,
  clientId: string,
  body: ChangeClientBody,
): Promise<ApiClient | Refused> {
  const quotas = body.quotas === undefined ? undefined : readClientQuotas(body.quotas);
  const beyond = quotas === undefined ? undefined : await refuseBeyondQuota(deps, origin, quotas);
  const decide = (client: ApiClient) => {
    const scopes = body.scopes ?? [];
    const refused =
      refuseOperatorScopes(origin, scopes, client.scopes) ??
      refuseBeyondScopes(origin, scopes) ??
      beyond ??
      refuseProgramChange(client, body) ??
      refuseToCancel(body, client.state);
    if (refused !== undefined) return refused;
    return {
      ...(body.cancel === undefined ? {} : { cancel: body.cancel }),
      set: {
        ...(body.name === undefined ? {} : { name: body.name }),
        ...(body.scopes === undefined ? {} : { scopes: body.scopes }),
        ...(body.state === undefined ? {} : { state: body.state }),
        ...(body.require_signature === undefined ? {} : { requireSignature: body.require_signature }),
        ...(quotas === undefined ? {} : { quotas }),
      },
    };
  };
  const apply = (onDecided?: () => void) =>
    applyClientChange(deps, origin, clientId, "client.change", decide, { onDecided });
  const changed = await (body.state === "disabled"
    ? disableClient(
        deps,
        origin,
        { clientId, action: "client.change", cancelsPayments: body.cancel?.includes("transactions") },
        apply,
      )
    : apply());
  if (isRefused(changed)) return changed;
  if (body.state !== undefined || body.cancel !== undefined) await deps.onStateChanged(changed);
  return changed;
}

export const tooManyChanges: Refused = {
  ...{ refused: "CONCURRENCY_LIMITED", retryAfterSeconds: 1 },
  message: "Too many changes to this client are in progress.",
};

/** A change that can be retried: its idempotency key, and a callback for a request that was carried out before. */
interface RetryableChange {
  keyed: KeyedChange;
  onReplay: (objectId: string) => void;
}

export interface ChangeOptions {
  retryable?: RetryableChange | undefined;
  /** Checked with the client locked, before everything else, also for a request that was carried out before. */
  refuse?: ((client: ApiClient, isRepeated: boolean) => Refused | undefined) | undefined;
  /** Whether another client may make this change although the client is protected. */
  isExempt?: ((client: ApiClient) => boolean) | undefined;
  /** Whether the operator replaces all credentials, after which the client depends on nobody. */
  resets?: true | undefined;
  /** Whether the client replaces a credential that it was given before, so that nobody can act as it who could not. */
  keepsAuthority?: true | undefined;
  /** What else the audit entry names, of the client as it was. None of it has a space. */
  names?: ((client: ApiClient) => readonly string[]) | undefined;
  /** Called when the change is found to be allowed, before it is written. */
  onDecided?: (() => void) | undefined;
}

/** Every change of a client goes through here: it is looked up in the caller's tenant, authority is checked, and its audit entry written. */
export async function applyClientChange(
  { clients, access, changes, now }: ClientDeps,
  origin: Origin,
  clientId: string,
  action: string,
  decide: (client: ApiClient) => ClientChange | Refused,
  { retryable, refuse, isExempt, resets, keepsAuthority, names, onDecided }: ChangeOptions = {},
): Promise<ApiClient | Refused> {
  const tenantId = tenantOf(origin);
  const shownId = showId("cli", clientId);
  // To disable a client is a stop, which is recorded in any case once it was decided.
  const describe: typeof describeAct = (...act) =>
    onDecided === undefined ? describeActOn(shownId, ...act) : describeAct(...act);
  const audit = describe(origin, action, shownId, new Date(now()));
  const decideOnce: DecideClientChange = (client, facts, earlier) => {
    // The change may have waited for locks. What the client has requested until now was requested before the change.
    audit.occurredAt = new Date(now());
    if (names !== undefined) audit.objects = [shownId, ...names(client)];
    const refused =
      refuse?.(client, earlier !== undefined) ??
      refuseCredentialOfPerson(client, action) ??
      refuseBeyondScopes(origin, client.scopes);
    if (refused !== undefined) return refused;
    if (earlier === undefined || retryable === undefined) {
      const change = withAuthority(origin, client, facts, decide(client), { isExempt, keepsAuthority });
      if (!isRefused(change)) onDecided?.();
      return change;
    }
    return replay(earlier.hash, retryable.keyed.hash, () => {
      retryable.onReplay(earlier.objectId);
      return "nothing" as const;
    });
  };
  const review = callerReviewOf(origin, now);
  const changing = changes(clientId, () =>
    resets === true
      ? clients.resetClient(tenantId, clientId, decideOnce, audit)
      : clients.changeClient(tenantId, clientId, decideOnce, audit, retryable?.keyed, review),
  );
  if (changing === undefined) return tooManyChanges;
  const changed = await changing;
  if (changed === "locked") return tooManyChanges;
  if (changed === undefined) return { refused: "CLIENT_NOT_FOUND" };
  if (!isRefused(changed)) access.forget(clientId);
  return changed;
}

/** A change of authority is refused if the client is protected; otherwise it is recorded who has made it. */
function withAuthority(
  origin: Origin,
  client: ApiClient,
  facts: ClientFacts,
  change: ClientChange | Refused,
  { isExempt, keepsAuthority }: Pick<ChangeOptions, "isExempt" | "keepsAuthority">,
): ClientChange | Refused {
  if (isRefused(change)) return change;
  const by = actorOf(origin);
  const isOther = by !== null && by !== client.id;
  if (!changesAuthority(client, change, by))
    return isOther && changesAppearance(client, change) && isProtected(client, facts)
      ? refuseAppearance
      : change;
  const own = by === client.id ? refuseOwnChange(client, facts, change) : undefined;
  const refused = isOther ? refuseProtected(client, facts, isExempt) : own;
  if (refused !== undefined) return refused;
  if (keepsAuthority === true) return change;
  return { ...change, authority: { controllers: isOther ? "added" : "unchanged", ...change.authority, by } };
}

/** A caller cannot grant a quota above both the default and its own. */
async function refuseBeyondQuota(
  { clients, defaultQuotas }: Pick<ClientDeps, "clients" | "defaultQuotas">,
  origin: Origin,
  wanted: ClientQuotas,
): Promise<Refused | undefined> {
  if (origin.by === "operator") return undefined;
  const caller = await clients.findClientOfTenant(origin.principal.tenantId, origin.principal.clientId);
  const beyond = findBeyond(wanted, caller?.quotas ?? {}, defaultQuotas);
  if (beyond.length === 0) return undefined;
  const reason = "is above both the default quota and the caller's own";
  const details = beyond.map((name) => ({ path: `body.quotas.${name}`, reason }));
  return { refused: "QUOTA_BEYOND_OWN", details };
}
