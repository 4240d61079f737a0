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

/**
 * Refuses a new credential of the client itself that no current one proves. Judged with the client locked: a credential that was removed
 * since the request was authenticated proves nothing. A secret that has been replaced, or that ends, is no proof for what lasts longer:
 * a thief who has found it could otherwise keep the client, and end the secret of its owner.
 */
export function refuseUnproven(
  { keys, now }: ProofDeps,
  client: ApiClient,
  { currentSecret, signedBy }: CredentialProof,
  newExpiry: Date | null = null,
): Refused | undefined {
  const refused = "CREDENTIAL_PROOF_REQUIRED";
  if (currentSecret === undefined) {
    const hasSigned = client.keys.some((key) => key.id === signedBy?.id && isLive(key, now()));
    return hasSigned ? undefined : { refused };
  }
  const id = matchSecret(keys, client.secrets, currentSecret, now());
  const proof = client.secrets.find((secret) => secret.id === id);
  if (proof === undefined)
    return { refused, message: "`current_secret` is not a valid secret of the client." };
  const newer = client.secrets.filter(({ createdAt }) => createdAt > proof.createdAt);
  // One that was never used is from a response that was lost.
  if (newer.some(({ lastUsedAt }) => lastUsedAt !== null))
    return { refused, message: "`current_secret` has been replaced by a secret that is in use." };
  const endsSooner =
    newer.length === 0 && proof.expiresAt !== null && (newExpiry === null || newExpiry > proof.expiresAt);
  return endsSooner
    ? { refused, message: "`current_secret` expires before the new credential would." }
    : undefined;
}
