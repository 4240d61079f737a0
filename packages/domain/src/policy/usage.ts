import { type TransactionState, transactionStates } from "../transaction/transitions.js";
import type { CompiledPolicy, WindowKind } from "./compiled-policy.js";
import type { PolicyRequest } from "./policy-request.js";

/**
 * Rolling sums. A transaction counts from the moment it is judged (`counted_at`) for as long as it is not rejected, failed or
 * cancelled: while it waits for approval, while it is under way, and when it is completed. Whatever rule has let it pass, it counts.
 * A window at a time `now` holds what was counted after `now - period`: at exactly the period's age a transaction has left it. There
 * is no upper end, so that what another process has counted with a clock that is ahead is not forgotten.
 */
export interface UsageWindow extends WindowKind {
  /** Names the window among those of a batch, of all its tenants. */
  key: string;
  /** The UUID of the wallet, client or tenant. */
  id: string;
}

/** What a window holds. The sum of a window over all assets has no meaning, and stays zero. */
export interface Usage {
  sum: bigint;
  count: bigint;
}

/** What the windows of a batch hold, by their keys. */
export type UsageByWindow = Map<string, Usage>;

/** Whether a transaction that has been judged counts, by its state. */
export function countsTowardsLimits(state: TransactionState): boolean {
  return state === "completed" || transactionStates[state].holdsFunds;
}

/** The window of this kind that a request falls into. */
export function windowOf({ per, asset, periodSeconds }: WindowKind, request: PolicyRequest): UsageWindow {
  const id = scopeId(per, request);
  return { key: `${per} ${id} ${asset ?? "*"} ${periodSeconds}`, per, id, asset, periodSeconds };
}

/**
 * Adds a transaction that counts to the windows that were loaded, so that the next decision of the batch sees it as if it had been
 * loaded anew. To be called when all is decided: what policy allows can still fail for want of funds, and then does not count.
 */
export function countTransaction(policy: CompiledPolicy, request: PolicyRequest, usage: UsageByWindow): void {
  for (const kind of policy.windows) {
    if (kind.asset !== null && kind.asset !== request.asset) continue;
    const { key } = windowOf(kind, request);
    const held = usage.get(key);
    if (held === undefined) continue;
    usage.set(key, {
      sum: kind.asset === null ? held.sum : held.sum + request.amount,
      count: held.count + 1n,
    });
  }
}

function scopeId(per: WindowKind["per"], request: PolicyRequest): string {
  switch (per) {
    case "wallet":
      return request.sourceWalletId;
    case "client":
      return request.clientId;
    case "tenant":
      return request.tenantId;
  }
}
