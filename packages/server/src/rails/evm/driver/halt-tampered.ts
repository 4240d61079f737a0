import type { WalletKey } from "../../../app/chain/chain-store.js";
import type { MayBeTampered } from "../../../app/chain/halt.js";
import { type DriverContext, type FollowedChain, haltWallet } from "./driver-context.js";

/**
 * Halts the wallets of payments that something other than the service has written or changed, and returns the payments of the others. What
 * follows on such a payment has a later nonce, so the wallet waits as a whole until the operator has restored the row.
 */
export async function haltTampered<Payment extends WalletKey & MayBeTampered>(
  context: DriverContext,
  chain: FollowedChain,
  payments: readonly Payment[],
): Promise<readonly Payment[]> {
  const faults = new Map<string, Payment>();
  for (const payment of payments) if (payment.fault !== null) faults.set(payment.walletId, payment);
  if (faults.size === 0) return payments;
  for (const { tenantId, walletId, fault } of faults.values())
    await haltWallet(context, chain, { tenantId, walletId }, "PAYMENT_TAMPERED", fault ?? "");
  return payments.filter(({ walletId }) => !faults.has(walletId));
}
