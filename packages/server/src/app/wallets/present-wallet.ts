import { type AssetRegistry, formatAmount } from "@bursar/domain";
import { showId, type Wallet as WalletBody, type WalletSummary } from "@bursar/protocol";
import type { Wallet, WalletBalance, WalletSending, WalletWithBalances } from "./wallet.js";

/** A wallet as every reader sees it. The chains are those that are configured, with the most that their payments offer for a unit of gas. */
export function createWalletPresenter(
  assets: AssetRegistry,
  chains: readonly { network: string; feeCap: bigint }[],
) {
  const feeCaps = new Map(chains.map(({ network, feeCap }) => [network, feeCap]));
  return (wallet: WalletWithBalances): WalletBody => ({
    ...presentWallet(wallet),
    balances: wallet.balances.map((balance) => presentBalance(balance, assets)),
    sending: wallet.sending === null ? null : presentSending(wallet.sending, feeCaps.get(wallet.network)),
  });
}

function presentBalance(
  { asset: code, available, held, chain }: WalletBalance,
  assets: AssetRegistry,
): WalletBody["balances"][number] {
  const decimals = assets.find(code)?.decimals;
  if (decimals === undefined) throw new Error(`the database holds an asset that is not configured: ${code}`);
  const confirmed = chain?.confirmed ?? null;
  return {
    asset: code,
    available: formatAmount(available, decimals),
    held: formatAmount(held, decimals),
    incoming: chain === null ? null : formatAmount(chain.incoming, decimals),
    on_chain:
      confirmed === null
        ? null
        : { amount: formatAmount(confirmed.amount, decimals), block_number: confirmed.blockNumber },
  };
}

function presentSending(sending: WalletSending, feeCap: bigint | undefined): WalletBody["sending"] {
  const isAboveCap = feeCap !== undefined && sending.baseFee !== null && sending.baseFee > feeCap;
  return {
    next_nonce: sending.nextNonce,
    final_nonce: sending.finalNonce,
    in_flight: sending.inFlight,
    oldest_at: sending.oldestAt?.toISOString() ?? null,
    halted_reason: sending.haltedReason,
    blocked_by: sending.blockedBy ?? (isAboveCap ? "fees_above_cap" : null),
  };
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
    frozen_reason: wallet.frozenReason,
    version: wallet.version,
    address: wallet.address,
    account: wallet.address === null ? null : `${wallet.network}:${wallet.address}`,
    created_by: wallet.createdBy === null ? null : showId("cli", wallet.createdBy),
    created_at: wallet.createdAt.toISOString(),
    updated_at: wallet.updatedAt.toISOString(),
  };
}
