import type { AccountKey } from "@bursar/domain";
import type { Balances } from "../../app/ledger/ledger-unit.js";
import type { Queryable } from "../core/database.js";
import { lockAccounts as lock, MissingAccountsError } from "./ledger.js";

// The names under which the settling of transactions still uses the ledger.
export {
  createAccounts,
  lockAccounts as lockAllAccounts,
  withLedger as withAccounts,
  writeBalances as writeAccounts,
} from "./ledger.js";

/** Locks all of these accounts; if one does not exist, the map is empty. */
export async function lockAccounts(tx: Queryable, keys: readonly AccountKey[]): Promise<Balances> {
  try {
    return await lock(tx, keys);
  } catch (error) {
    if (error instanceof MissingAccountsError) return new Map();
    throw error;
  }
}
