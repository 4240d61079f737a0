import type { GatheredAmount } from "../../../src/app/chain/wallet-books.js";
import { chainHoldings } from "./simulated-chain-tables.js";
import type { Rows } from "./simulated-rows.js";
import { keyOf } from "./simulated-tables.js";

/** Adds to what was gathered for a wallet, and returns the sum. */
export function gatherOne(rows: Rows, { tenantId, walletId, asset, amount }: GatheredAmount): GatheredAmount {
  const key = keyOf(walletId, asset);
  const gathered = (rows.get(chainHoldings, key)?.gathered ?? 0n) + amount;
  rows.put(chainHoldings, key, { tenantId, walletId, asset, gathered });
  return { tenantId, walletId, asset, amount: gathered };
}
