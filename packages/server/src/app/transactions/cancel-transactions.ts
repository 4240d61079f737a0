import { decideOnBalances } from "@bursar/domain";
import type { Rails } from "../rails/rail.js";
import type { ChangeHub } from "./change-hub.js";
import { listBehind } from "./list-behind.js";
import { accountsOf, type ClaimedPayment, type Settlement, type SettlementStore } from "./settlement.js";

export interface CancelTransactionsDeps {
  settlements: Pick<SettlementStore, "unitOfWork">;
  rails: Pick<Rails, "get">;
  changes: Pick<ChangeHub, "publish">;
  /** Whether an error is a lock that was waited for in vain. */
  isLockTimeout: (error: unknown) => boolean;
  onError: (error: unknown) => void;
  now: () => number;
}

/**
 * Cancels transactions of a tenant that no rail has begun to work on; returns how many another process holds, or could not be cancelled. Those
 * whose rows were changed in the database are left to the engine, which sets them aside. Throws the lock timeout if something else holds a
 * lock on rows of the tenant, such as its accounts: it is not tried again with each transaction, because most need the same rows.
 */
export type CancelTransactions = (
  tenantId: string,
  ids: readonly string[],
  /** The client or operator that cancels them; null if that is not known. */
  actorId: string | null,
) => Promise<number>;

/** As long as a batch of the engine waits. */
const lockTimeoutMs = 1000;

export function createBatchCanceller(deps: CancelTransactionsDeps): CancelTransactions {
  const { settlements, rails, changes, now } = deps;

  async function cancelTogether(
    tenantId: string,
    ids: readonly string[],
    actorId: string | null,
  ): Promise<number> {
    const { cancelled, claimedCount } = await settlements.unitOfWork(async (unit) => {
      const all = await unit.claimAgain(ids.map((id) => ({ tenantId, id })));
      const sound = all.filter(({ isTampered }) => isTampered !== true);
      const behind = await listBehind(unit, rails, sound);
      const isBehind = ({ sourceAccountId }: ClaimedPayment) => behind.has(sourceAccountId);
      // They may have been made. The engine ends them when that is known.
      for (const { id } of sound.filter(isBehind)) await unit.requestCancel({ tenantId, id }, actorId);
      const claimed = sound.filter((transaction) => !isBehind(transaction));
      if (claimed.length === 0) return { cancelled: [], claimedCount: all.length };
      const balances = await unit.lockAccounts(accountsOf(claimed));
      const settled = claimed.map((transaction): Settlement => {
        const decision = decideOnBalances(transaction, { kind: "cancel", fee: null }, balances);
        if (typeof decision === "string")
          throw new Error(`cancelling is ${decision} in the state ${transaction.state}`);
        const occurredAt = new Date(Math.max(now(), transaction.createdAt.getTime()));
        return { transaction, decision, occurredAt, dueAt: null, judgement: null, actorId };
      });
      await unit.write(settled, balances);
      return { cancelled: claimed.map(({ id }) => id), claimedCount: all.length };
    }, lockTimeoutMs);
    changes.publish(cancelled);
    return ids.length - claimedCount;
  }

  return async (tenantId, ids, actorId) => {
    try {
      return await cancelTogether(tenantId, ids, actorId);
    } catch (error) {
      if (ids.length === 1 || deps.isLockTimeout(error)) throw error;
      // One that cannot be cancelled does not keep the others from it.
      let failed = 0;
      for (const id of ids)
        failed += await cancelTogether(tenantId, [id], actorId).catch((cause: unknown) => {
          if (deps.isLockTimeout(cause)) throw cause;
          deps.onError(cause);
          return 1;
        });
      return failed;
    }
  };
}
