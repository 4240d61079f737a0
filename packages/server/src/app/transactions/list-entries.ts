import { type AssetRegistry, accountKind, formatAmount } from "@bursar/domain";
import { type LedgerAccount, type LedgerEntries, showId } from "@bursar/protocol";
import type { LedgerEntry } from "../ledger/ledger-unit.js";
import { isRefused, type Refused } from "../requests/refused.js";
import type { ReadTransaction } from "./read-transaction.js";

export type ListEntries = (tenantId: string, id: string) => Promise<LedgerEntries | Refused>;

interface ListEntriesDeps {
  read: ReadTransaction;
  /** By line. */
  readEntries: (tenantId: string, transactionId: string) => Promise<readonly LedgerEntry[]>;
  assets: AssetRegistry;
}

/** What a transaction has moved in the ledger of its tenant. */
export function createEntryLister({ read, readEntries, assets }: ListEntriesDeps): ListEntries {
  const decimalsOf = (code: string) => {
    const asset = assets.find(code);
    if (asset === undefined) throw new Error(`the ledger has an asset that is not configured: ${code}`);
    return asset.decimals;
  };
  return async (tenantId, id) => {
    const transaction = await read(tenantId, id);
    if (isRefused(transaction)) return transaction;
    const entries = await readEntries(tenantId, id);
    return {
      data: entries.map(({ line, debit, credit, asset, amount }) => ({
        object: "ledger_entry",
        line,
        debit: presentAccount(debit),
        credit: presentAccount(credit),
        asset,
        amount: formatAmount(amount, decimalsOf(asset)),
      })),
    };
  };
}

function presentAccount(id: string): LedgerAccount {
  const kind = accountKind(id);
  return { kind, wallet_id: kind === "wallet" ? showId("wlt", id) : null };
}
