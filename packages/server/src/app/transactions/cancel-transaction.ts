import { accountName, type Balance, decide } from "@bursar/domain";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ChangeHub } from "./change-hub.js";
import type { ReadTransaction } from "./read-transaction.js";
import type { Accounts, ClaimedTransaction, Settlement, SettlementStore } from "./settlement.js";
import type { Transaction } from "./transaction.js";

export interface CancelTransactionDeps {
  settlements: Pick<SettlementStore, "settleOne">;
  read: ReadTransaction;
  changes: ChangeHub;
  now: () => number;
}

export type CancelTransaction = (tenantId: string, id: string) => Promise<Transaction | Refused>;

/** Calls a transaction off, if the engine has not been faster. To call off what was called off is a success. */
export function createTransactionCanceller(deps: CancelTransactionDeps): CancelTransaction {
  const { settlements, read, changes, now } = deps;
  return async (tenantId, id) => {
    const cancelled = await settlements.settleOne(tenantId, id, async (claimed) => ({
      now: new Date(now()),
      windows: [],
      decide: (accounts) => claimed.map((transaction) => cancel(transaction, accounts, now())),
    }));
    if (cancelled.length > 0) changes.announce([id]);
    const transaction = await read(tenantId, id);
    if (isRefused(transaction) || transaction.steps.at(-1)?.state === "cancelled") return transaction;
    return { refused: "NOT_CANCELLABLE" };
  };
}

function cancel(transaction: ClaimedTransaction, accounts: Accounts, nowMs: number): Settlement {
  const { tenantId, asset, amount, state, version, sourceWalletId, destinationWalletId } = transaction;
  const name = (accountId: string) => accountName({ tenantId, accountId, asset });
  const source = accounts.get(name(sourceWalletId)) as Balance;
  const destination = accounts.get(name(destinationWalletId)) as Balance;
  const decision = decide({ state, version, amount, source, destination }, "cancel");
  if (decision === "impossible") throw new Error(`a transaction in the state ${state} cannot be claimed`);
  accounts.set(name(sourceWalletId), decision.source);
  // The clock of whoever accepted it may be ahead of this one; nothing happens before it was accepted.
  const occurredAt = new Date(Math.max(nowMs, transaction.createdAt.getTime()));
  return { transaction, decision, occurredAt, dueAt: null, judgement: null };
}
