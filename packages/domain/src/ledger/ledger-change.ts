import { type AccountKey, accountName, type Balance, mayBeNegative } from "./accounts.js";

/** Moves an amount from the available balance of one account to that of another, of the same tenant. */
export interface Posting {
  tenantId: string;
  /**
   * The line number within the transaction or trade. It is assigned by meaning, not by position: the amount of a transaction is line 1 and
   * its fees follow. So the primary key of the entries prevents posting the same line twice.
   */
  line: number;
  debit: string;
  credit: string;
  asset: string;
  amount: bigint;
}

/** An amount that is held in an account, or released. */
export interface Hold {
  tenantId: string;
  account: string;
  asset: string;
  amount: bigint;
}

/**
 * The effect of a decision on the ledger. It is applied in the order of these fields, so that a posting can spend a release of the same
 * change, which is how a hold is paid out.
 */
export interface LedgerChange {
  releases: readonly Hold[];
  postings: readonly Posting[];
  holds: readonly Hold[];
}

export const noLedgerChange: LedgerChange = { releases: [], postings: [], holds: [] };

/** The new balances of the changed accounts, by their keys; or the first account with insufficient funds. */
export type LedgerOutcome = { balances: ReadonlyMap<string, Balance> } | { insufficient: AccountKey };

/**
 * Applies a change to accounts, atomically. It reads and copies only the accounts that the change names, because a batch of 500
 * transactions applies 500 changes to one map.
 */
export function applyLedgerChange(
  balances: ReadonlyMap<string, Balance>,
  { releases, postings, holds }: LedgerChange,
): LedgerOutcome {
  const changed = new Map<string, Balance>();
  const read = (name: string): Balance => {
    const balance = changed.get(name) ?? balances.get(name);
    if (balance === undefined) throw new Error(`the account ${name} was not locked`);
    return balance;
  };
  for (const { tenantId, account, asset, amount } of releases) {
    assertPositive(amount);
    const name = accountName({ tenantId, accountId: account, asset });
    const { available, held } = read(name);
    if (held < amount) throw new Error(`the account ${name} has a smaller hold than the amount to release`);
    changed.set(name, { available: available + amount, held: held - amount });
  }
  for (const { tenantId, debit, credit, asset, amount } of postings) {
    assertPositive(amount);
    if (debit === credit) throw new Error(`the account ${debit} cannot pay itself`);
    const debitName = accountName({ tenantId, accountId: debit, asset });
    const creditName = accountName({ tenantId, accountId: credit, asset });
    const payer = read(debitName);
    const payee = read(creditName);
    if (payer.available < amount && !mayBeNegative(debit))
      return { insufficient: { tenantId, accountId: debit, asset } };
    changed.set(debitName, { available: payer.available - amount, held: payer.held });
    changed.set(creditName, { available: payee.available + amount, held: payee.held });
  }
  for (const { tenantId, account, asset, amount } of holds) {
    assertPositive(amount);
    const name = accountName({ tenantId, accountId: account, asset });
    const { available, held } = read(name);
    if (available < amount && !mayBeNegative(account))
      return { insufficient: { tenantId, accountId: account, asset } };
    changed.set(name, { available: available - amount, held: held + amount });
  }
  return { balances: changed };
}

/**
 * Applies a change to the balances of a batch, so that the next change sees it. If an account has insufficient funds, it returns that
 * account and changes nothing.
 */
export function applyInPlace(balances: Map<string, Balance>, change: LedgerChange): AccountKey | undefined {
  const outcome = applyLedgerChange(balances, change);
  if ("insufficient" in outcome) return outcome.insufficient;
  for (const [name, balance] of outcome.balances) balances.set(name, balance);
  return undefined;
}

/** The distinct accounts that changes name. They must be locked before the changes are applied. */
export function accountsOfChanges(changes: Iterable<LedgerChange>): AccountKey[] {
  const keys = new Map<string, AccountKey>();
  const add = (tenantId: string, accountId: string, asset: string) => {
    const key = { tenantId, accountId, asset };
    keys.set(accountName(key), key);
  };
  for (const { releases, postings, holds } of changes) {
    for (const { tenantId, account, asset } of releases) add(tenantId, account, asset);
    for (const { tenantId, debit, credit, asset } of postings) {
      add(tenantId, debit, asset);
      add(tenantId, credit, asset);
    }
    for (const { tenantId, account, asset } of holds) add(tenantId, account, asset);
  }
  return [...keys.values()];
}

function assertPositive(amount: bigint): void {
  if (amount <= 0n) throw new Error("an amount of a ledger change must be positive");
}
