import type { ApiClient } from "../access/client.js";
import type { Origin } from "../audit/act.js";
import type { Refused } from "../requests/refused.js";
import { applyClientChange } from "./change-client.js";
import type { ClientDeps } from "./client-deps.js";

export type RemoveSecret = (
  origin: Origin,
  clientId: string,
  secretId: string,
) => Promise<ApiClient | Refused>;

/** Ends a secret at once, as after a leak. */
export function createSecretRemover(deps: ClientDeps): RemoveSecret {
  return (origin, clientId, secretId) =>
    applyClientChange(deps, origin, clientId, "secret.remove", ({ secrets }) =>
      secrets.some((secret) => secret.id === secretId)
        ? { removeSecretIds: [secretId] }
        : { refused: "CREDENTIAL_NOT_FOUND" },
    );
}
