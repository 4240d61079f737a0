import type { WalletKey } from "../../../app/chain/chain-store.js";
import type { HaltCode } from "../../../app/chain/halt.js";
import { PaymentFaultError } from "../../../app/rails/record-rail-events.js";
import { isolateFailingRows } from "../../../runtime/concurrency/isolate-failing-rows.js";
import { type DriverContext, type FollowedChain, haltWallet } from "./driver-context.js";

interface HaltOfFault {
  code: HaltCode;
  /** Begins the sentence for the operator; the error follows. */
  reason: string;
}

export const paymentAtFault: HaltOfFault = {
  code: "PAYMENT_AT_FAULT",
  reason: "One of its payments cannot be processed",
};

/**
 * Works on the payments of many wallets in as few SQL transactions as possible. If one cannot be written, the wallets are divided until the
 * one at fault is found. It is halted with the reason, and the others go on. Any other error is thrown: no wallet is at fault for it. So is one
 * of a wallet that does not exist, after the others: nothing else would show it.
 */
export async function isolateWallets<Item, Result>(
  context: DriverContext,
  chain: FollowedChain,
  items: readonly Item[],
  walletOf: (item: Item) => WalletKey,
  work: (items: readonly Item[]) => Promise<Result>,
  { code, reason }: HaltOfFault = paymentAtFault,
): Promise<Result[]> {
  const byWallet = new Map<string, Item[]>();
  for (const item of items) {
    const { walletId } = walletOf(item);
    byWallet.set(walletId, [...(byWallet.get(walletId) ?? []), item]);
  }
  let unhalted: unknown;
  const results = await isolateFailingRows([...byWallet.values()], (some) => work(some.flat()), {
    isUnavailable: (error) => !isFaultOfRows(error),
    onFailure: async ([item], error) => {
      if (item === undefined) return;
      const { tenantId, walletId } = walletOf(item);
      const sentence = `${reason}: ${(error as Error).message}.`;
      if (!(await haltWallet(context, chain, { tenantId, walletId }, code, sentence))) unhalted = error;
    },
  });
  if (unhalted !== undefined) throw unhalted;
  return results;
}

/** What does not follow from the rows, or the database refuses because of them: a value or a constraint (classes 22 and 23 of its codes). */
export function isFaultOfRows(error: unknown): boolean {
  if (error instanceof PaymentFaultError) return true;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === "string" && /^2[23][0-9A-Z]{3}$/.test(code);
}
