import type { AddKeyBody } from "@bursar/protocol";
import type { ApiClient, ClientChange, ClientKey } from "../access/client.js";
import type { Origin } from "../audit/act.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { hashRequest } from "../requests/request-hash.js";
import { applyClientChange } from "./change-client.js";
import type { ClientDeps } from "./client-deps.js";

const keysMax = 10;
const sharedSecretBytes = 32;

export interface AddKeyDeps extends ClientDeps {
  /** Seals a shared secret, so that the database alone cannot sign. */
  sealSecret: (keyId: string, secret: Uint8Array) => Uint8Array;
  isPublicKey: (raw: Uint8Array) => boolean;
}

interface AddedKey {
  client: ApiClient;
  key: ClientKey;
  /** The shared secret of an HMAC key, shown once. */
  secret: string | null;
  isReplayed: boolean;
}

export type AddKey = (
  origin: Origin,
  clientId: string,
  body: AddKeyBody,
  idempotencyKey: string | undefined,
) => Promise<AddedKey | Refused>;

const action = "key.add";

export function createKeyAdder(deps: AddKeyDeps): AddKey {
  return async (origin, clientId, body, idempotencyKey) => {
    const made = makeKey(deps, body);
    if (isRefused(made)) return made;
    let earlierId: string | undefined;
    const repeatable = idempotencyKey !== undefined && {
      keyed: { action, key: idempotencyKey, hash: hashRequest({ clientId, ...body }), objectId: made.key.id },
      onReplay: (keyId: string) => {
        earlierId = keyId;
      },
    };
    const decide = ({ keys }: ApiClient): ClientChange | Refused =>
      keys.length < keysMax ? { addKey: made.key } : { refused: "KEY_LIMIT_REACHED" };
    const client = await applyClientChange(deps, origin, clientId, action, decide, repeatable || undefined);
    if (isRefused(client)) return client;
    if (earlierId === undefined) return { client, ...made, isReplayed: false };
    const key = client.keys.find(({ id }) => id === earlierId);
    // Its key was used and stays used; what it has made was removed since.
    return key === undefined
      ? { refused: "CREDENTIAL_NOT_FOUND" }
      : { client, key, secret: null, isReplayed: true };
  };
}

function makeKey(
  deps: AddKeyDeps,
  { algorithm, public_key }: AddKeyBody,
): Pick<AddedKey, "key" | "secret"> | Refused {
  const id = deps.newUuid();
  const createdAt = new Date(deps.now());
  if (algorithm === "hmac-sha256") {
    if (public_key !== undefined)
      return wrongPublicKey("is not taken for a shared secret, which the service makes itself");
    const secret = deps.randomBytes(sharedSecretBytes);
    const material = deps.sealSecret(id, secret);
    return { key: { id, algorithm, material, createdAt }, secret: Buffer.from(secret).toString("base64") };
  }
  if (public_key === undefined) return wrongPublicKey("is required for ed25519");
  const material = Buffer.from(public_key, "base64url");
  if (!deps.isPublicKey(material)) return wrongPublicKey("is not an Ed25519 public key");
  return { key: { id, algorithm, material, createdAt }, secret: null };
}

function wrongPublicKey(reason: string): Refused {
  return { refused: "INVALID_REQUEST", details: [{ path: "body.public_key", reason }] };
}
