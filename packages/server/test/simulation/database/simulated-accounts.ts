import { type AccountKey, accountName } from "@bursar/domain";
import type { Balances } from "../../../src/app/ledger/ledger-unit.js";
import type { Rows } from "./simulated-rows.js";
import { accounts } from "./simulated-tables.js";

export async function lockAccounts(rows: Rows, keys: readonly AccountKey[]): Promise<Balances> {
  const locked: Balances = new Map();
  const names = keys.map(accountName).sort();
  // A statement sees the rows that were there when it began, however long it waits for their locks.
  for (const name of names.filter((one) => rows.get(accounts, one) !== undefined)) {
    await rows.lock(accounts, name);
    const balance = rows.get(accounts, name);
    if (balance !== undefined) locked.set(name, balance);
  }
  return locked;
}

export async function createAccounts(rows: Rows, keys: readonly AccountKey[]): Promise<void> {
  for (const name of keys.map(accountName).sort())
    if (await rows.isFree(accounts, name)) rows.put(accounts, name, { available: 0n, held: 0n });
}
