import { type Balance, decide, type FailureCode, timeOfUuidV7 } from "@bursar/domain";
import type { Rail } from "../app/transactions/rail.js";
import {
  type Accounts,
  accountName,
  type ClaimedTransaction,
  type Settlement,
} from "../app/transactions/settlement.js";

/**
 * Decides a batch, one after the other in the order of acceptance. Each decision sees the balances that the one before has left,
 * so that a batch is the same as its transactions one by one.
 */
export function decideBatch(
  claimed: readonly ClaimedTransaction[],
  accounts: Accounts,
  rails: ReadonlyMap<string, Rail>,
  now: Date,
): Settlement[] {
  return claimed.map((transaction) => {
    const { tenantId, asset, sourceWalletId, destinationWalletId } = transaction;
    const sourceName = accountName({ tenantId, ownerId: sourceWalletId, asset });
    const destinationName = accountName({ tenantId, ownerId: destinationWalletId, asset });
    const facts = {
      state: "accepted" as const,
      version: transaction.version,
      amount: transaction.amount,
      source: balanceOf(accounts, sourceName),
      destination: balanceOf(accounts, destinationName),
    };
    // The clock of whoever accepted it may be ahead of this one; nothing happens before it was accepted.
    const occurredAt = new Date(Math.max(now.getTime(), timeOfUuidV7(transaction.id)));
    const obstacle = findObstacle(transaction, occurredAt);
    const rail = rails.get(transaction.network);
    if (rail === undefined) throw new Error(`there is no rail for the network ${transaction.network}`);
    const decision =
      obstacle === undefined ? decide(facts, rail.firstEvent) : decide(facts, "fail", obstacle);
    if (decision === "impossible")
      throw new Error(`${rail.firstEvent} is impossible for an accepted transaction`);
    accounts.set(sourceName, decision.source);
    accounts.set(destinationName, decision.destination);
    return { transaction, decision, occurredAt };
  });
}

function balanceOf(accounts: Accounts, name: string): Balance {
  const balance = accounts.get(name);
  if (balance === undefined) throw new Error("an account was not locked");
  return balance;
}

function findObstacle({ expiresAt, sourceIsFrozen }: ClaimedTransaction, now: Date): FailureCode | undefined {
  if (expiresAt !== null && expiresAt <= now) return "EXPIRED";
  return sourceIsFrozen ? "WALLET_FROZEN" : undefined;
}
