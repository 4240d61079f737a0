import type { Client } from "@bursar/protocol";
import { showId } from "@bursar/protocol";
import type { ApiClient, ClientKey } from "../../../app/clients/client.js";
import { showClientQuotas } from "../../../app/quotas/client-quotas.js";

/** A client as the API shows it: never a hash, never a secret. */
export function presentClient(client: ApiClient): Client {
  return {
    id: showId("cli", client.id),
    object: "client",
    name: client.name,
    scopes: [...client.scopes],
    state: client.state,
    require_signature: client.requireSignature,
    quotas: showClientQuotas(client.quotas),
    secrets: client.secrets.map((secret) => ({
      id: showId("sec", secret.id),
      created_at: secret.createdAt.toISOString(),
      expires_at: secret.expiresAt?.toISOString() ?? null,
    })),
    keys: client.keys.map(presentKey),
    created_at: client.createdAt.toISOString(),
    updated_at: client.updatedAt.toISOString(),
  };
}

export function presentKey(key: ClientKey): Client["keys"][number] {
  return {
    id: showId("key", key.id),
    algorithm: key.algorithm,
    public_key: key.algorithm === "ed25519" ? Buffer.from(key.material).toString("base64url") : null,
    created_at: key.createdAt.toISOString(),
  };
}
