import { type ChangeClientBody, type CreateClientBody, showId } from "@bursar/protocol";
import type { KeyedMutex } from "../../runtime/concurrency/keyed-mutex.js";
import type { IntegrityKeys } from "../access/integrity-keys.js";
import type { StopInAnyCase } from "../access/stop-in-any-case.js";
import { actorOf, type Origin, tenantOf } from "../audit/audit-entry.js";
import type { AuditRecorder } from "../audit/audit-recorder.js";
import { type ClientQuotas, findBeyond, type Quotas, readClientQuotas } from "../quotas/client-quotas.js";
import { idempotentRequest, replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { applyClientChange, type ChangeOptions } from "./apply-client-change.js";
import type { ApiClient, ClientAccessCache, ClientStore } from "./client.js";
import {
  refuseBeyondScopes,
  refuseNewProgram,
  refuseOperatorScopes,
  refuseProgramChange,
} from "./client-authority.js";
import { hashSecret, newSecret } from "./client-secret.js";
import { disableClient, refuseToCancel } from "./disable-client.js";
import { callerReviewOf, describeReviewedAct } from "./review-caller.js";

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
  recorder: Pick<AuditRecorder, "record">;
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
  const apply = (options: ChangeOptions = {}) =>
    applyClientChange(deps, origin, clientId, "client.change", decide, options);
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
