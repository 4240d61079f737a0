import type { ApiClient } from "../access/client.js";
import { hashSecret, newSecretText } from "../access/client-secret.js";
import type { Origin } from "../audit/act.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { hashRequest } from "../requests/request-hash.js";
import { applyClientChange } from "./change-client.js";
import type { ClientDeps } from "./client-deps.js";

const action = "secret.rotate";
const overlapSecondsDefault = 86_400;

export type RotateSecret = (
  origin: Origin,
  clientId: string,
  overlapSeconds: number | undefined,
  idempotencyKey?: string,
) => Promise<RotatedSecret | Refused>;

interface RotatedSecret {
  client: ApiClient;
  /** Null where an earlier request with the same key has made the secret: it is shown once. */
  secret: string | null;
}

/**
 * Gives a client a new secret while the one in use stays valid for a while; never more than two live. Of two that live already the
 * older is the one in use: the newer may be from a rotation whose answer was lost, and a retry must not end the secret that
 * everybody still has.
 */
export function createSecretRotator(deps: ClientDeps): RotateSecret {
  return async (origin, clientId, overlapSeconds = overlapSecondsDefault, idempotencyKey) => {
    const secret = newSecretText(deps.randomBytes);
    const now = new Date(deps.now());
    const id = deps.newUuid();
    const decide = ({ secrets }: ApiClient) => {
      const oldestFirst = [...secrets].sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
      const [kept, ...others] = overlapSeconds === 0 ? [undefined, ...oldestFirst] : oldestFirst;
      const endsAt = new Date(now.getTime() + overlapSeconds * 1000);
      // A secret that ends sooner anyway is not given more time.
      const keepsItsEnd = kept === undefined || (kept.expiresAt !== null && kept.expiresAt < endsAt);
      return {
        addSecret: { id, hash: hashSecret(secret), createdAt: now, expiresAt: null },
        removeSecretIds: others.flatMap((candidate) => (candidate === undefined ? [] : [candidate.id])),
        ...(keepsItsEnd ? {} : { expireSecrets: { ids: [kept.id], at: endsAt } }),
      };
    };
    let isReplayed = false;
    const repeatable = idempotencyKey !== undefined && {
      keyed: {
        action,
        key: idempotencyKey,
        hash: hashRequest({ clientId, overlapSeconds }),
        objectId: id,
      },
      onReplay: () => {
        isReplayed = true;
      },
    };
    const client = await applyClientChange(deps, origin, clientId, action, decide, repeatable || undefined);
    return isRefused(client) ? client : { client, secret: isReplayed ? null : secret };
  };
}
