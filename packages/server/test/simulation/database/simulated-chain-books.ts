import type { WalletKey } from "../../../src/app/chain/chain-store.js";
import type { SignedOfWallet } from "../../../src/app/chain/unconfirmed-wallet.js";
import type { WalletBooks } from "../../../src/app/chain/wallet-books.js";
import { modelAssets } from "../../harness/chain/model-network.js";
import { openPayments } from "./simulated-chain-reads.js";
import {
  type ChainWalletRow,
  chainDoubts,
  chainHoldings,
  chainNonces,
  chainPayments,
  chainWallets,
  numberKey,
} from "./simulated-chain-tables.js";
import type { SimulatedDatabase } from "./simulated-database.js";
import type { Rows } from "./simulated-rows.js";
import { accounts, keyOf } from "./simulated-tables.js";

/** The epoch that a wallet must have been confirmed in. */
export function chainEpoch(rows: Rows, { epoch }: Pick<SimulatedDatabase, "epoch">): number {
  return epoch() + (rows.get(chainDoubts, "all") ?? 0);
}

/** The next nonce, or the lowest one that was taken back and that no payment has. */
export function freeNonce(rows: Rows, { walletId, nextNonce, reclaimedFrom }: ChainWalletRow): number {
  let nonce = reclaimedFrom ?? nextNonce;
  while (nonce < nextNonce && rows.get(chainNonces, keyOf(walletId, numberKey(nonce))) !== undefined)
    nonce += 1;
  return Math.min(nonce, nextNonce);
}

/** What the signer has said that it has bound payments without a nonce to, unless that is used. */
export function listBound(rows: Rows, { tenantId, walletId }: WalletKey): SignedOfWallet[] {
  const wallet = rows.get(chainWallets, keyOf(tenantId, walletId));
  if (wallet === undefined) return [];
  const from = Math.min(wallet.finalNonce, freeNonce(rows, wallet));
  return rows
    .all(chainPayments)
    .flatMap((row) =>
      row.walletId !== walletId || row.stage !== "ready" || row.boundNonce === null || row.boundNonce < from
        ? []
        : [{ tenantId, walletId, transactionId: row.id, nonce: row.boundNonce }],
    )
    .sort((a, b) => a.nonce - b.nonce);
}

export function readBook(rows: Rows, { tenantId, walletId }: WalletKey): WalletBooks[] {
  const wallet = rows.get(chainWallets, keyOf(tenantId, walletId));
  if (wallet === undefined) return [];
  const balances = new Map(
    modelAssets.list.map(({ code: asset }) => {
      const account = rows.get(accounts, keyOf(tenantId, walletId, asset));
      const gathered = rows.get(chainHoldings, keyOf(walletId, asset))?.gathered ?? 0n;
      return [asset, { booked: (account?.available ?? 0n) + (account?.held ?? 0n), gathered }];
    }),
  );
  const { haltedReason, statedNonce } = wallet;
  const finalNonce = Math.min(wallet.finalNonce, freeNonce(rows, wallet));
  const open = openPayments(rows).filter((one) => one.walletId === walletId);
  const lowestOpen = open.length === 0 ? null : Math.min(...open.map(({ nonce }) => nonce ?? 0));
  return [
    {
      tenantId,
      walletId,
      finalNonce,
      lowestOpen,
      isHalted: haltedReason !== null,
      statedNonce,
      balances,
    },
  ];
}
