import type { Client } from "@bursar/protocol";
import { showId } from "@bursar/protocol";
import type { ApiClient, ClientKey } from "../../../app/clients/client.js";
import { showClientQuotas } from "../../../app/quotas/client-quotas.js";

/** A client as the API shows it: never a hash, never a secret. */
export function presentClient(client: ApiClient): Client {
  return {
    id: showId("cli", client.id),
    object: "client",
    kind: client.person === null ? "program" : "person",
    name: client.name,
    scopes: [...client.scopes],
    state: client.state,
    require_signature: client.requireSignature,
    quotas: showClientQuotas(client.quotas),
    // The secret of a person is an invitation.
    secrets: (client.person === null ? client.secrets : []).map((secret) => ({
      id: showId("sec", secret.id),
      added_by: showClientId(secret.addedBy),
      created_at: secret.createdAt.toISOString(),
      expires_at: secret.expiresAt?.toISOString() ?? null,
      last_used_at: secret.lastUsedAt?.toISOString() ?? null,
    })),
    keys: (client.person === null ? client.keys : []).map(presentKey),
    created_by: showClientId(client.createdBy),
    authority_changed_by: showClientId(client.authorityChangedBy),
    authority_changed_at: client.authorityChangedAt.toISOString(),
    created_at: client.createdAt.toISOString(),
    updated_at: client.updatedAt.toISOString(),
  };
}

export function presentKey(key: ClientKey): Client["keys"][number] {
  return {
    id: showId("key", key.id),
    algorithm: key.algorithm === "ed25519" ? "ed25519" : "hmac-sha256",
    public_key: key.algorithm === "ed25519" ? Buffer.from(key.material).toString("base64url") : null,
    added_by: showClientId(key.addedBy),
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  };
}

function showClientId(id: string | null): string | null {
  return id === null ? null : showId("cli", id);
}
