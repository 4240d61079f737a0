import { modelCoin, modelTokens } from "../../harness/chain/model-chain.js";
import { type ChainWalletRow, chainHoldings, chainWallets } from "../database/simulated-chain-tables.js";
import type { SimulatedDatabase } from "../database/simulated-database.js";
import { accounts as accountTable, keyOf } from "../database/simulated-tables.js";
import type { ChainBug } from "./chain-bugs.js";

/** What the books say that a wallet has. */
function bookedOf(
  { tables }: SimulatedDatabase,
  { tenantId, walletId }: ChainWalletRow,
  contract: string | null,
): bigint {
  const asset = modelTokens.find((token) => token.contract === contract)?.asset ?? modelCoin;
  const account = tables.get(accountTable.name)?.get(keyOf(tenantId, walletId, asset)) as
    | { available: bigint; held: bigint }
    | undefined;
  const holdings = [...(tables.get(chainHoldings.name)?.values() ?? [])] as {
    walletId: string;
    asset: string;
    gathered: bigint;
  }[];
  const gathered = holdings.find((one) => one.walletId === walletId && one.asset === asset)?.gathered ?? 0n;
  return (account?.available ?? 0n) + (account?.held ?? 0n) + gathered;
}

/** Mistakes that only some worlds show: nodes that lie, a chain without a pool, a database that went back in time. */
export const worldBugs: readonly ChainBug[] = [
  {
    name: "what one of two nodes says is believed",
    breaks: "what is credited was confirmed by two nodes",
    trustsOneNode: true,
  },
  {
    name: "payments are sent together on a network without a pool",
    breaks: "a nonce is sent after the one before it",
    network: { hasPool: true },
  },
  {
    name: "nobody looks whether the chain is ahead of the database",
    breaks: "a wallet whose payments are unknown after a restore halts",
    node: (node, { database }) => ({
      ...node,
      // As if it were compared with the books themselves.
      noncesAt: async (addresses) => {
        const rows = [...(database.tables.get(chainWallets.name)?.values() ?? [])] as ChainWalletRow[];
        return addresses.map((address) => rows.find((one) => one.address === address)?.finalNonce ?? 0);
      },
      balances: async (accounts) => {
        const rows = [...(database.tables.get(chainWallets.name)?.values() ?? [])] as ChainWalletRow[];
        return accounts.map(({ address, contract }) => {
          const wallet = rows.find((one) => one.address === address);
          return wallet === undefined ? 0n : bookedOf(database, wallet, contract);
        });
      },
    }),
  },
];
