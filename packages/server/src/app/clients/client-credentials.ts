import type { AddKeyBody, RotateOwnSecretBody } from "@bursar/protocol";
import { actorOf, type ClientOrigin, type OperatorOrigin, type Origin } from "../audit/audit-entry.js";
import { hashRequest } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { applyClientChange } from "./apply-client-change.js";
import type { ApiClient, ClientChange, ClientKey } from "./client.js";
import { hashSecret, newSecret } from "./client-secret.js";
import type { ClientDeps } from "./client-service.js";
import { findProof, refuseUnproven } from "./prove-credential.js";

/** Manages the secrets and the signing keys of API clients. */
export interface ClientCredentials {
  /**
   * Gives a client a new secret. The secret in use stays valid for the overlap; at most two are valid at a time. If two are valid
   * already, the older one counts as the one in use: the newer may come from a rotation whose response was lost, and a retry must not
   * revoke the secret that is deployed.
   */
  rotateSecret: (
    origin: Origin,
    clientId: string,
    overlapSeconds: number | undefined,
    idempotencyKey?: string,
    /** When the new secret expires; undefined for never. */
    expiresAt?: string,
  ) => Promise<RotatedSecret | Refused>;
  /**
   * Gives the caller a new secret, and keeps the one that it proves to have for the overlap. Needs no scope, but proof of a credential that the caller has now: a stolen access token alone must
   * not become a permanent credential.
   */
  rotateOwnSecret: (
    origin: ClientOrigin,
    body: RotateOwnSecretBody,
    /** The key that has signed the request, if any. */
    signedBy: Pick<ClientKey, "id"> | undefined,
    idempotencyKey: string | undefined,
  ) => Promise<RotatedSecret | Refused>;
  /**
   * Replaces all secrets and keys of a client by a new secret, so that no other client can act as it, and forgets who controlled it.
   * Only for the operator.
   */
  resetClient: (
    origin: OperatorOrigin,
    clientId: string,
  ) => Promise<{ client: ApiClient; secret: string } | Refused>;
  /** Revokes a secret at once, as after a leak. */
  removeSecret: (origin: Origin, clientId: string, secretId: string) => Promise<ApiClient | Refused>;
  addKey: (
    origin: Origin,
    clientId: string,
    body: AddKeyBody,
    idempotencyKey: string | undefined,
  ) => Promise<AddedKey | Refused>;
  removeKey: (origin: Origin, clientId: string, keyId: string) => Promise<ApiClient | Refused>;
}

interface RotatedSecret {
  client: ApiClient;
  /** Null if an earlier request with the same idempotency key created the secret: it is shown once. */
  secret: string | null;
}

interface AddedKey {
  client: ApiClient;
  key: ClientKey;
  /** The shared secret of an HMAC key, shown once. */
  secret: string | null;
  isReplayed: boolean;
}

export interface ClientCredentialsDeps extends ClientDeps {
  /** Seals a shared secret, so that the database alone cannot sign. */
  sealSecret: (keyId: string, secret: Uint8Array) => Uint8Array;
  isPublicKey: (raw: Uint8Array) => boolean;
}

export const keysMax = 10;
const sharedSecretBytes = 32;
const overlapSecondsDefault = 86_400;

export function createClientCredentials(deps: ClientCredentialsDeps): ClientCredentials {
  return {
    rotateSecret: (origin, clientId, overlapSeconds, idempotencyKey, expires) =>
      rotateSecret(deps, origin, clientId, { overlapSeconds, expires, idempotencyKey }),
    rotateOwnSecret: (origin, { overlap_seconds, expires_at, current_secret }, signedBy, idempotencyKey) =>
      rotateSecret(deps, origin, origin.principal.clientId, {
        overlapSeconds: overlap_seconds,
        expires: expires_at,
        idempotencyKey,
        isInUse: (client) => findProof(deps, client, current_secret)?.id,
        refuse: (client, newExpiry, isRepeated) =>
          refuseUnproven(deps, client, { currentSecret: current_secret, signedBy }, newExpiry, isRepeated),
      }),
    resetClient: (origin, clientId) => resetClient(deps, origin, clientId),
    removeSecret: (origin, clientId, secretId) =>
      applyClientChange(deps, origin, clientId, "secret.remove", ({ secrets }) =>
        secrets.some((secret) => secret.id === secretId)
          ? { removeSecretIds: [secretId] }
          : { refused: "CREDENTIAL_NOT_FOUND" },
      ),
    addKey: (origin, clientId, body, idempotencyKey) => addKey(deps, origin, clientId, body, idempotencyKey),
    removeKey: (origin, clientId, keyId) =>
      applyClientChange(deps, origin, clientId, "key.remove", ({ keys }) =>
        keys.some((key) => key.id === keyId)
          ? { removeKeyIds: [keyId] }
          : { refused: "CREDENTIAL_NOT_FOUND" },
      ),
  };
}

interface Rotation {
  overlapSeconds: number | undefined;
  expires: string | undefined;
  idempotencyKey: string | undefined;
  /** The secret that the request proves to be in use; left out, it is the older one. */
  isInUse?: (client: ApiClient) => string | undefined;
  refuse?: (client: ApiClient, newExpiry: Date | null, isRepeated: boolean) => Refused | undefined;
}

async function rotateSecret(
  deps: ClientCredentialsDeps,
  origin: Origin,
  clientId: string,
  { overlapSeconds = overlapSecondsDefault, expires, idempotencyKey, isInUse, refuse }: Rotation,
): Promise<RotatedSecret | Refused> {
  const newExpiry = readExpiry(expires, deps.now());
  if (isRefused(newExpiry)) return newExpiry;
  const action = "secret.rotate";
  const secret = newSecret(deps.randomBytes);
  const createdAt = new Date(deps.now());
  const id = deps.newUuid();
  const decide = (current: ApiClient) => {
    const oldestFirst = current.secrets.toSorted((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
    const inUseId = isInUse?.(current) ?? oldestFirst[0]?.id;
    const kept = overlapSeconds === 0 ? undefined : oldestFirst.find((secret) => secret.id === inUseId);
    const others = oldestFirst.filter((secret) => secret !== kept);
    const expiresAt = new Date(createdAt.getTime() + overlapSeconds * 1000);
    // A secret that expires sooner anyway is not extended.
    const keepsItsExpiry = kept === undefined || (kept.expiresAt !== null && kept.expiresAt < expiresAt);
    return {
      addSecret: {
        id,
        ...hashSecret(deps.keys, secret),
        addedBy: actorOf(origin),
        createdAt,
        expiresAt: newExpiry,
        lastUsedAt: null,
      },
      removeSecretIds: others.map((secret) => secret.id),
      ...(keepsItsExpiry ? {} : { expireSecrets: { ids: [kept.id], at: expiresAt } }),
    };
  };
  let isReplayed = false;
  const retryable = idempotencyKey !== undefined && {
    keyed: {
      action,
      key: idempotencyKey,
      hash: hashRequest({ clientId, overlapSeconds, expires }),
      objectId: id,
    },
    onReplay: () => {
      isReplayed = true;
    },
  };
  const client = await applyClientChange(deps, origin, clientId, action, decide, {
    retryable: retryable || undefined,
    refuse: (current, isRepeated) => refuse?.(current, newExpiry, isRepeated),
  });
  return isRefused(client) ? client : { client, secret: isReplayed ? null : secret };
}

async function resetClient(
  deps: ClientCredentialsDeps,
  origin: OperatorOrigin,
  clientId: string,
): Promise<{ client: ApiClient; secret: string } | Refused> {
  const secret = newSecret(deps.randomBytes);
  const added = {
    id: deps.newUuid(),
    ...hashSecret(deps.keys, secret),
    addedBy: null,
    createdAt: new Date(deps.now()),
    expiresAt: null,
    lastUsedAt: null,
  };
  const decide = ({ secrets, keys }: ApiClient): ClientChange => ({
    addSecret: added,
    removeSecretIds: secrets.map(({ id }) => id),
    removeKeyIds: keys.map(({ id }) => id),
    authority: { by: null, controllers: "reset" },
  });
  const client = await applyClientChange(deps, origin, clientId, "client.reset", decide, { resets: true });
  return isRefused(client) ? client : { client, secret };
}

async function addKey(
  deps: ClientCredentialsDeps,
  origin: Origin,
  clientId: string,
  body: AddKeyBody,
  idempotencyKey: string | undefined,
): Promise<AddedKey | Refused> {
  const action = "key.add";
  const made = makeKey(deps, origin, body);
  if (isRefused(made)) return made;
  let earlierId: string | undefined;
  const retryable = idempotencyKey !== undefined && {
    keyed: { action, key: idempotencyKey, hash: hashRequest({ clientId, ...body }), objectId: made.key.id },
    onReplay: (keyId: string) => {
      earlierId = keyId;
    },
  };
  const decide = ({ keys }: ApiClient): ClientChange | Refused =>
    keys.length < keysMax ? { addKey: made.key } : { refused: "KEY_LIMIT_REACHED" };
  const client = await applyClientChange(deps, origin, clientId, action, decide, {
    retryable: retryable || undefined,
  });
  if (isRefused(client)) return client;
  if (earlierId === undefined) return { client, ...made, isReplayed: false };
  const key = client.keys.find(({ id }) => id === earlierId);
  // The idempotency key stays used, although the key that it created has been removed since.
  return key === undefined
    ? { refused: "CREDENTIAL_NOT_FOUND" }
    : { client, key, secret: null, isReplayed: true };
}

function makeKey(
  deps: ClientCredentialsDeps,
  origin: Origin,
  { algorithm, public_key, expires_at }: AddKeyBody,
): Pick<AddedKey, "key" | "secret"> | Refused {
  const expiresAt = readExpiry(expires_at, deps.now());
  if (isRefused(expiresAt)) return expiresAt;
  const id = deps.newUuid();
  const facts = {
    addedBy: actorOf(origin),
    createdAt: new Date(deps.now()),
    expiresAt,
    lastUsedAt: null,
  };
  if (algorithm === "hmac-sha256") {
    if (public_key !== undefined)
      return invalidPublicKey("is not allowed for hmac-sha256: the service generates the shared secret");
    const secret = deps.randomBytes(sharedSecretBytes);
    const material = deps.sealSecret(id, secret);
    return { key: { id, algorithm, material, ...facts }, secret: Buffer.from(secret).toString("base64") };
  }
  if (public_key === undefined) return invalidPublicKey("is required for ed25519");
  const material = Buffer.from(public_key, "base64url");
  if (!deps.isPublicKey(material)) return invalidPublicKey("is not an Ed25519 public key");
  return { key: { id, algorithm, material, ...facts }, secret: null };
}

function readExpiry(expiresAt: string | undefined, nowMs: number): Date | null | Refused {
  if (expiresAt === undefined) return null;
  const time = new Date(expiresAt);
  if (time.getTime() > nowMs) return time;
  return {
    refused: "INVALID_REQUEST",
    details: [{ path: "body.expires_at", reason: "is not in the future" }],
  };
}

function invalidPublicKey(reason: string): Refused {
  return { refused: "INVALID_REQUEST", details: [{ path: "body.public_key", reason }] };
}
