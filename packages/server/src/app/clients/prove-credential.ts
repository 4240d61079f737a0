import type { IntegrityKeys } from "../access/integrity-keys.js";
import type { Refused } from "../requests/refused.js";
import { type ApiClient, type ClientKey, isLive } from "./client.js";
import { matchSecret } from "./client-secret.js";

/** What a caller shows beside its access token, because a token can have been stolen and must not become a credential that lasts. */
export interface CredentialProof {
  currentSecret: string | undefined;
  /** The key that has signed the request. */
  signedBy: Pick<ClientKey, "id"> | undefined;
}

interface ProofDeps {
  keys: IntegrityKeys;
  now: () => number;
}

/** The secret of a client that a request proves to have. */
export function findProof({ keys, now }: ProofDeps, client: ApiClient, secret: string | undefined) {
  const id = secret === undefined ? undefined : matchSecret(keys, client.secrets, secret, now());
  return client.secrets.find((one) => one.id === id);
}

/**
 * Refuses a new credential of the client itself that no current one proves. Judged with the client locked: a credential that was removed
 * since the request was authenticated proves nothing.
 *
 * | what is shown | proves | ends |
 * |---|---|---|
 * | the newest secret, or a key, without an end | any credential | the older secrets, after the overlap |
 * | the newest secret, or a key, that ends | one that ends no later | the older secrets, after the overlap |
 * | a secret that has been replaced | only that a rotation may be repeated with its idempotency key, which shows nothing | nothing |
 *
 * Otherwise a thief with a secret that was leaked and then replaced could keep the client, and end the new secret of its owner. Whether
 * the new one has been used makes no difference: the owner may need it only hours later. If the response to a rotation was lost, somebody
 * who manages the client rotates its secret, or a key of the client signs the request.
 */
export function refuseUnproven(
  { keys, now }: ProofDeps,
  client: ApiClient,
  { currentSecret, signedBy }: CredentialProof,
  newExpiry: Date | null = null,
  /** Whether the credential was made before, by a request with the same idempotency key. */
  isRepeated = false,
): Refused | undefined {
  const refused = "CREDENTIAL_PROOF_REQUIRED";
  const nowMs = now();
  if (currentSecret === undefined) {
    const key = client.keys.find(({ id }) => id === signedBy?.id);
    if (key === undefined || !isLive(key, nowMs)) return { refused };
    return isRepeated || !endsBefore(key, newExpiry)
      ? undefined
      : { refused, message: "The key that signed the request expires before the new credential would." };
  }
  const proof = findProof({ keys, now }, client, currentSecret);
  if (proof === undefined)
    return { refused, message: "`current_secret` is not a valid secret of the client." };
  if (isRepeated) return undefined;
  if (client.secrets.some((secret) => secret.createdAt > proof.createdAt && isLive(secret, nowMs)))
    return { refused, message: "`current_secret` has been replaced by a newer secret." };
  return endsBefore(proof, newExpiry)
    ? { refused, message: "`current_secret` expires before the new credential would." }
    : undefined;
}

function endsBefore({ expiresAt }: Pick<ClientKey, "expiresAt">, newExpiry: Date | null): boolean {
  return expiresAt !== null && (newExpiry === null || newExpiry > expiresAt);
}
