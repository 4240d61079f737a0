import { type ChangeClientBody, showId } from "@bursar/protocol";
import type { ApiClient, ClientChange, EarlierChange, KeyedChange } from "../access/client.js";
import { describeAct, type Origin, tenantOf } from "../audit/act.js";
import { readClientQuotas } from "../quotas/client-quotas.js";
import { isRefused, type Refused } from "../requests/refused.js";
import { refuseBeyondAuthority, refuseBeyondQuota } from "./authority.js";
import type { ClientDeps } from "./client-deps.js";

export type ChangeClient = (
  origin: Origin,
  clientId: string,
  body: ChangeClientBody,
) => Promise<ApiClient | Refused>;

export interface ChangeClientDeps extends ClientDeps {
  /** Called when what a client has approved may count again, because it is enabled or has the scope. */
  onHeard: (tenantId: string, clientId: string) => Promise<void>;
}

export function createClientChanger(deps: ChangeClientDeps): ChangeClient {
  return async (origin, clientId, body) => {
    const quotas = body.quotas === undefined ? undefined : readClientQuotas(body.quotas);
    const beyond = quotas === undefined ? undefined : await refuseBeyondQuota(deps, origin, quotas);
    const changed = await applyClientChange(deps, origin, clientId, "client.change", () => {
      const refused = refuseBeyondAuthority(origin, body.scopes ?? []) ?? beyond;
      if (refused !== undefined) return refused;
      return {
        set: {
          ...(body.name === undefined ? {} : { name: body.name }),
          ...(body.scopes === undefined ? {} : { scopes: body.scopes }),
          ...(body.state === undefined ? {} : { state: body.state }),
          ...(body.require_signature === undefined ? {} : { requireSignature: body.require_signature }),
          ...(quotas === undefined ? {} : { quotas }),
        },
      };
    });
    if (isRefused(changed)) return changed;
    const mayBeHeard = changed.state === "active" && changed.scopes.includes("transactions:approve");
    if (mayBeHeard && (body.state !== undefined || body.scopes !== undefined))
      await deps.onHeard(tenantOf(origin), clientId);
    return changed;
  };
}

const tooMany: Refused = {
  refused: "CONCURRENCY_LIMITED",
  message: "Too many changes of this client are under way at once.",
  retryAfterSeconds: 1,
};

/** A request that can be repeated: its key, and what to do where it was carried out before. */
export interface Repeatable {
  keyed: KeyedChange;
  onReplay: (objectId: string) => void;
}

/** Every change of a client goes this way: found in the caller's tenant, within the caller's authority, written with its audit entry. */
export async function applyClientChange(
  { clients, access, changes, now }: ClientDeps,
  origin: Origin,
  clientId: string,
  action: string,
  decide: (client: ApiClient) => ClientChange | Refused,
  repeatable?: Repeatable,
): Promise<ApiClient | Refused> {
  const tenantId = tenantOf(origin);
  const audit = describeAct(origin, action, showId("cli", clientId), new Date(now()));
  const judge = (client: ApiClient, earlier: EarlierChange | undefined) => {
    const beyond = refuseBeyondAuthority(origin, client.scopes);
    if (beyond !== undefined) return beyond;
    if (earlier === undefined || repeatable === undefined) return decide(client);
    if (earlier.hash !== repeatable.keyed.hash) return { refused: "IDEMPOTENCY_KEY_REUSED" } as const;
    repeatable.onReplay(earlier.objectId);
    return "nothing" as const;
  };
  const changing = changes(clientId, () =>
    clients.changeClient(tenantId, clientId, judge, audit, repeatable?.keyed),
  );
  if (changing === undefined) return tooMany;
  const changed = await changing;
  if (changed === "locked") return tooMany;
  if (changed === undefined) return { refused: "CLIENT_NOT_FOUND" };
  if (!isRefused(changed)) access.forget(clientId);
  return changed;
}
