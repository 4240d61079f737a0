import { type AssetRegistry, formatAmount } from "@bursar/domain";
import { showId, type Wallet as WalletBody, type WalletSummary } from "@bursar/protocol";
import type { Wallet, WalletWithBalances } from "./wallet.js";

/** A wallet as every reader sees it. */
export function createWalletPresenter(assets: AssetRegistry) {
  return (wallet: WalletWithBalances): WalletBody => ({
    ...presentWallet(wallet),
    balances: wallet.balances.flatMap(({ asset: code, available, held }) => {
      const decimals = assets.find(code)?.decimals;
      if (decimals === undefined)
        throw new Error(`the database holds an asset that is not configured: ${code}`);
      return [
        { asset: code, available: formatAmount(available, decimals), held: formatAmount(held, decimals) },
      ];
    }),
  });
}

/** What a wallet is, without what it holds. */
export function presentWallet(wallet: Wallet): WalletSummary {
  return {
    id: showId("wlt", wallet.id),
    object: "wallet",
    name: wallet.name,
    purpose: wallet.purpose,
    network: wallet.network,
    role: wallet.role,
    state: wallet.state,
    frozen: wallet.frozen,
    version: wallet.version,
    address: null,
    created_by: wallet.createdBy === null ? null : showId("cli", wallet.createdBy),
    created_at: wallet.createdAt.toISOString(),
    updated_at: wallet.updatedAt.toISOString(),
  };
}
