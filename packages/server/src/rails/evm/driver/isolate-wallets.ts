import type { WalletKey } from "../../../app/chain/chain-store.js";
import { isolateFailingRows } from "../../../runtime/concurrency/isolate-failing-rows.js";
import { type DriverContext, type FollowedChain, haltWallet, PaymentFaultError } from "./driver-context.js";

/**
 * Works on the payments of many wallets in as few SQL transactions as possible. If one cannot be written, the wallets are divided until the
 * one at fault is found. It is halted with the reason, and the others go on. Any other error is thrown: no wallet is at fault for it.
 */
export async function isolateWallets<Item, Result>(
  context: DriverContext,
  chain: FollowedChain,
  items: readonly Item[],
  walletOf: (item: Item) => WalletKey,
  work: (items: readonly Item[]) => Promise<Result>,
): Promise<Result[]> {
  const byWallet = new Map<string, Item[]>();
  for (const item of items) {
    const { walletId } = walletOf(item);
    byWallet.set(walletId, [...(byWallet.get(walletId) ?? []), item]);
  }
  return await isolateFailingRows([...byWallet.values()], (some) => work(some.flat()), {
    isUnavailable: (error) => !isFaultOfPayment(error),
    onFailure: async ([item], error) => {
      if (item === undefined) return;
      const { tenantId, walletId } = walletOf(item);
      const reason = `One of its payments cannot be processed: ${(error as Error).message}.`;
      await haltWallet(context, chain, { tenantId, walletId }, "PAYMENT_AT_FAULT", reason);
    },
  });
}

/** What the database refuses because of the rows themselves: a value or a constraint (classes 22 and 23 of its codes). */
function isFaultOfPayment(error: unknown): boolean {
  if (error instanceof PaymentFaultError) return true;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" && /^2[23][0-9A-Z]{3}$/.test(code);
}
