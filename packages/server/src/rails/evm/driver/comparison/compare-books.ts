import type { HaltCode } from "../../../../app/chain/halt.js";
import type {
  ComparedWallet,
  GatheredAmount,
  Holding,
  WalletBooks,
} from "../../../../app/chain/wallet-books.js";
import { usedElsewhere } from "../../confirm/used-nonces.js";
import { type DriverContext, tokensOf } from "../driver-context.js";

/** A wallet as the chain has it. */
export interface WalletOnChain {
  nonce: number;
  /** By asset, without those that nodes do not say now. */
  balances: ReadonlyMap<string, bigint>;
}

interface Difference {
  wallet: ComparedWallet;
  /** What the operator had stated about the wallet, and the chain does not say. */
  statedNonce: number | null;
  code: HaltCode;
  reason: string;
}

interface Comparison {
  /** What wallets have received and no block shows. */
  surplus: GatheredAmount[];
  differences: Difference[];
  /** What is missing, by asset, whether it is accepted or not. */
  shortfalls: GatheredAmount[];
  /** Wallets of which the operator has stated what the chain says: their books follow it. */
  accepted: ComparedWallet[];
  holdings: Holding[];
}

/** Pure: what is above the books, what is below them, and what to write down. */
export function compareAll(
  { network }: Pick<DriverContext, "network">,
  wallets: readonly ComparedWallet[],
  books: readonly WalletBooks[],
  onChain: readonly WalletOnChain[],
): Comparison {
  const surplus: GatheredAmount[] = [];
  const differences: Difference[] = [];
  const shortfalls: GatheredAmount[] = [];
  const accepted: ComparedWallet[] = [];
  const holdings: Holding[] = [];
  for (const [index, wallet] of wallets.entries()) {
    const book = books.find(({ walletId }) => walletId === wallet.walletId);
    const seen = onChain[index];
    if (book === undefined || seen === undefined) continue;
    const { tenantId, walletId } = wallet;
    const { statedNonce } = book;
    const tokens = tokensOf(network).filter(({ asset }) => seen.balances.has(asset));
    // What the operator has stated is accepted or answered when everything is known.
    if (statedNonce !== null && tokens.length < tokensOf(network).length) continue;
    if (seen.nonce >= book.finalNonce && seen.nonce === book.statedNonce) accepted.push(wallet);
    if (isUsedElsewhere(book, seen))
      differences.push({
        ...{ wallet, statedNonce },
        code: "NONCE_USED_ELSEWHERE",
        reason: `${seen.nonce} transactions of ${wallet.address} are final, and those from ${book.lowestOpen ?? book.finalNonce} on are not all known. ${usedElsewhere}`,
      });
    if (seen.nonce < book.finalNonce)
      differences.push({
        ...{ wallet, statedNonce },
        code: "NONCE_BELOW_BOOKS",
        reason: `${seen.nonce} transactions of ${wallet.address} are final, and ${book.finalNonce} of them had been. Payments that have ended are no longer part of the chain, and anybody can send them again.`,
      });
    for (const { asset } of tokens) {
      const { booked, gathered } = book.balances.get(asset) ?? { booked: 0n, gathered: 0n };
      const balance = seen.balances.get(asset) ?? 0n;
      const difference = balance - booked - gathered;
      if (balance > 0n || book.balances.has(asset))
        holdings.push({ tenantId, walletId, asset, onChain: balance });
      if (difference > 0n) surplus.push({ tenantId, walletId, asset, amount: difference });
      if (difference < 0n) shortfalls.push({ tenantId, walletId, asset, amount: -difference });
      if (difference < 0n)
        differences.push({
          ...{ wallet, statedNonce },
          code: "BALANCE_BELOW_BOOKS",
          reason: `${wallet.address} has ${balance} base units of ${asset} on the chain, ${-difference} less than its books.`,
        });
    }
    if (
      statedNonce !== null &&
      statedNonce !== seen.nonce &&
      !differences.some((one) => one.wallet === wallet)
    )
      differences.push({
        ...{ wallet, statedNonce },
        code: "NONCE_USED_ELSEWHERE",
        reason: `${seen.nonce} transactions of ${wallet.address} are final, and the operator has stated ${statedNonce}. State the nonce again.`,
      });
  }
  // What a wallet with a difference has too much is not a deposit: it may be a payment that has left the chain.
  const differing = new Set(differences.map(({ wallet }) => wallet.walletId));
  const isSure = ({ walletId }: GatheredAmount) => !differing.has(walletId);
  const toHalt = differences.filter(({ wallet }) => !accepted.includes(wallet));
  return { surplus: surplus.filter(isSure), differences: toHalt, shortfalls, accepted, holdings };
}

/** Everything of ours up to the settled block has ended, so a payment that is open has a nonce that is not used there. */
export function isUsedElsewhere(
  { finalNonce, lowestOpen }: Pick<WalletBooks, "finalNonce" | "lowestOpen">,
  { nonce }: Pick<WalletOnChain, "nonce">,
): boolean {
  return nonce > finalNonce || (lowestOpen !== null && lowestOpen < nonce);
}
