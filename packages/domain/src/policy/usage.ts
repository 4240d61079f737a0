import { type TransactionState, transactionStates } from "../transaction/transitions.js";
import type { CompiledPolicy, WindowKind } from "./compiled-policy.js";
import type { PolicyRequest } from "./policy-request.js";

/**
 * Rolling sums. A transaction counts from the time it is judged (`counted_at`) unless it is rejected, failed or cancelled: while it waits
 * for approval, while it is in progress, and after it is completed. It counts regardless of the rule that allowed it. The window at a time
 * `now` contains transactions counted after `now - period`; one that is exactly as old as the period is outside. There is no upper end, so
 * that transactions counted by a process whose clock is ahead are included.
 */
export interface UsageWindow extends WindowKind {
  /** The key of the window, unique over all tenants of a batch. */
  key: string;
  /** The UUID of the wallet, client or tenant. */
  id: string;
}

/** The usage of a window. The sum of a window over all assets has no meaning, and stays zero. */
export interface Usage {
  sum: bigint;
  count: bigint;
}

/** The usage of the windows of a batch, by key. */
export type UsageByWindow = Map<string, Usage>;

/** Whether a judged transaction in this state counts. */
export function countsTowardsLimits(state: TransactionState): boolean {
  return state === "completed" || transactionStates[state].holdsFunds;
}

/** The window of this kind that a request falls into. */
export function windowOf({ per, asset, periodSeconds }: WindowKind, request: PolicyRequest): UsageWindow {
  const id = scopeId(per, request);
  return { key: `${per} ${id} ${asset ?? "*"} ${periodSeconds}`, per, id, asset, periodSeconds };
}

/**
 * Adds a transaction to the loaded windows, so that the next decision of the batch includes it. Call it after the decision is final: a
 * transaction that policy allows can still fail because of insufficient funds, and then does not count.
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
