import type { ApiClient } from "../access/client.js";
import type { Origin } from "../audit/act.js";
import type { Refused } from "../requests/refused.js";
import { applyClientChange } from "./change-client.js";
import type { ClientDeps } from "./client-deps.js";

export type RemoveKey = (origin: Origin, clientId: string, keyId: string) => Promise<ApiClient | Refused>;

export function createKeyRemover(deps: ClientDeps): RemoveKey {
  return (origin, clientId, keyId) =>
    applyClientChange(deps, origin, clientId, "key.remove", ({ keys }) =>
      keys.some((key) => key.id === keyId) ? { removeKeyIds: [keyId] } : { refused: "CREDENTIAL_NOT_FOUND" },
    );
}
