import type { ChainNetwork } from "../../app/chain/chain-network.js";
import type { ChainNode } from "../../app/chain/chain-node.js";
import type { WalletKey } from "../../app/chain/chain-store.js";
import type { SettledBooks } from "../../app/chain/wallet-books.js";
import { OperatorError } from "../../operator-error.js";
import { compareAll } from "./driver/comparison/compare-books.js";
import { readChain } from "./driver/comparison/read-chain.js";

export interface ChainAudit {
  wallets: number;
  /** One sentence for each difference. */
  differences: { wallet: WalletKey; difference: string }[];
}

interface ChainAuditReads {
  readPage: (after: WalletKey | undefined, limit: number) => Promise<SettledBooks>;
  /** Rows of settled blocks whose wallet does not exist. */
  listUnowned: () => Promise<readonly (WalletKey & { hash: string; blockNumber: string })[]>;
}

const unsettled = (network: string) =>
  `The books of ${network} cannot be compared yet: no block has been settled since the network was resumed. Repeat the command after the next final block.`;

/** How many wallets are compared on one snapshot of the books. */
const pageMax = 100;

/**
 * Compares the books of every wallet with the chain, at the block up to which everything has ended. Each page is read on one snapshot,
 * together with its settled block, so the service can go on meanwhile.
 */
export async function auditChain(
  network: ChainNetwork,
  node: Pick<ChainNode, "balances" | "noncesAt">,
  { readPage, listUnowned }: ChainAuditReads,
): Promise<ChainAudit> {
  const differences = (await listUnowned()).map(({ tenantId, walletId, hash, blockNumber }) => ({
    wallet: { tenantId, walletId },
    difference: `It does not exist, and what ${hash} has paid in block ${blockNumber} is recorded for it, so that it is not settled. Restore the row in chain_deposits or chain_payments from a backup.`,
  }));
  const audit: ChainAudit = { wallets: 0, differences };
  for (let after: WalletKey | undefined; ; ) {
    const { settled, wallets, books } = await readPage(after, pageMax);
    if (wallets.length === 0) return audit;
    if (settled === undefined) throw new OperatorError(unsettled(network.network));
    const onChain = await readChain({ network, node }, settled, wallets);
    // What the operator has stated does not hide what differs now.
    const unstated = books.map((book) => ({ ...book, statedNonce: null }));
    const { surplus, differences } = compareAll({ network }, wallets, unstated, onChain);
    for (const { tenantId, walletId, asset, amount } of surplus) {
      const difference = `It has ${amount} base units of ${asset} more on the chain than in its books, at block ${settled.number}.`;
      audit.differences.push({ wallet: { tenantId, walletId }, difference });
    }
    for (const { wallet, reason } of differences) audit.differences.push({ wallet, difference: reason });
    audit.wallets += wallets.length;
    if (wallets.length < pageMax) return audit;
    after = wallets.at(-1);
  }
}
