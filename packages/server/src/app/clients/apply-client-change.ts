import { showId } from "@bursar/protocol";
import { type AuditWrite, actorOf, describeAct, type Origin, tenantOf } from "../audit/audit-entry.js";
import { replay } from "../requests/idempotency.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ApiClient, ClientChange, ClientFacts, DecideClientChange, KeyedChange } from "./client.js";
import {
  changesAppearance,
  changesAuthority,
  isProtected,
  onlyDisables,
  refuseAppearance,
  refuseBeyondScopes,
  refuseCredentialOfPerson,
  refuseOwnChange,
  refuseProtected,
} from "./client-authority.js";
import type { ClientDeps } from "./client-service.js";
import { callerReviewOf, describeActOn } from "./review-caller.js";

export const tooManyChanges: Refused = {
  ...{ refused: "CONCURRENCY_LIMITED", retryAfterSeconds: 1 },
  message: "Too many changes to this client are in progress.",
};

/** A change that can be retried: its idempotency key, and a callback for a request that was carried out before. */
interface RetryableChange {
  keyed: KeyedChange;
  onReplay: (objectId: string) => void;
}

export interface ChangeOptions {
  retryable?: RetryableChange | undefined;
  /** Checked with the client locked, before everything else, also for a request that was carried out before. */
  refuse?: ((client: ApiClient, isRepeated: boolean) => Refused | undefined) | undefined;
  /** Whether another client may make this change although the client is protected. */
  isExempt?: ((client: ApiClient) => boolean) | undefined;
  /** Whether the operator replaces all credentials, after which the client depends on nobody. */
  resets?: true | undefined;
  /** Whether the client replaces a credential that it was given before, so that nobody can act as it who could not. */
  keepsAuthority?: true | undefined;
  /** What else the audit entry names, of the client as it was. None of it has a space. */
  names?: ((client: ApiClient) => readonly string[]) | undefined;
  /** Called when the change is found to be allowed, before it is written. */
  onDecided?: (() => void) | undefined;
  /** Where the log has placed the entry, for a caller that records it again if the answer to COMMIT is lost. */
  attempts?: AuditWrite["attempts"];
}

/** Every change of a client goes through here: it is looked up in the caller's tenant, authority is checked, and its audit entry written. */
export async function applyClientChange(
  { clients, access, changes, now }: ClientDeps,
  origin: Origin,
  clientId: string,
  action: string,
  decide: (client: ApiClient) => ClientChange | Refused,
  { retryable, refuse, isExempt, resets, keepsAuthority, names, onDecided, attempts }: ChangeOptions = {},
): Promise<ApiClient | Refused> {
  const tenantId = tenantOf(origin);
  const shownId = showId("cli", clientId);
  // To disable a client is a stop, which is recorded in any case once it was decided.
  const describe: typeof describeAct = (...act) =>
    onDecided === undefined ? describeActOn(shownId, ...act) : describeAct(...act);
  const described = describe(origin, action, shownId, new Date(now()));
  const audit = attempts === undefined ? described : { ...described, attempts };
  const decideOnce: DecideClientChange = (client, facts, earlier) => {
    // The change may have waited for locks. What the client has requested until now was requested before the change.
    audit.occurredAt = new Date(now());
    if (names !== undefined) audit.objects = [shownId, ...names(client)];
    const refused =
      refuse?.(client, earlier !== undefined) ??
      refuseCredentialOfPerson(client, action) ??
      refuseBeyondScopes(origin, client.scopes);
    if (refused !== undefined) return refused;
    if (earlier === undefined || retryable === undefined) {
      const change = withAuthority(origin, client, facts, decide(client), { isExempt, keepsAuthority });
      if (!isRefused(change)) onDecided?.();
      return change;
    }
    return replay(earlier.hash, retryable.keyed.hash, () => {
      retryable.onReplay(earlier.objectId);
      return "nothing" as const;
    });
  };
  const review = callerReviewOf(origin, now);
  const changing = changes(clientId, () =>
    resets === true
      ? clients.resetClient(tenantId, clientId, decideOnce, audit)
      : clients.changeClient(tenantId, clientId, decideOnce, audit, retryable?.keyed, review),
  );
  if (changing === undefined) return tooManyChanges;
  const changed = await changing;
  if (changed === "locked") return tooManyChanges;
  if (changed === undefined) return { refused: "CLIENT_NOT_FOUND" };
  if (!isRefused(changed)) access.forget(clientId);
  return changed;
}

/** A change of authority is refused if the client is protected; otherwise it is recorded who has made it. */
function withAuthority(
  origin: Origin,
  client: ApiClient,
  facts: ClientFacts,
  change: ClientChange | Refused,
  { isExempt, keepsAuthority }: Pick<ChangeOptions, "isExempt" | "keepsAuthority">,
): ClientChange | Refused {
  if (isRefused(change)) return change;
  const by = actorOf(origin);
  const isOther = by !== null && by !== client.id;
  if (!changesAuthority(client, change, by))
    return isOther && changesAppearance(client, change) && isProtected(client, facts)
      ? refuseAppearance
      : change;
  const own = by === client.id ? refuseOwnChange(client, facts, change) : undefined;
  const refused = isOther ? refuseProtected(client, facts, isExempt) : own;
  if (refused !== undefined) return refused;
  if (keepsAuthority === true) return change;
  // Who only disables a client could not act as it.
  const isController = isOther && !onlyDisables(client, change);
  return {
    ...change,
    authority: { controllers: isController ? "added" : "unchanged", ...change.authority, by },
  };
}
