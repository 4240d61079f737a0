import { NodeUnavailableError } from "../../../app/chain/chain-node.js";
import { ChainMovedError, type WalletKey } from "../../../app/chain/chain-store.js";
import type { HaltCode } from "../../../app/chain/halt.js";
import { SignerUnavailableError } from "../../../app/chain/signer.js";
import { isolateFailingRows } from "../../../runtime/concurrency/isolate-failing-rows.js";
import { LeaseLostError } from "../../../runtime/loops/lease.js";
import { type DriverContext, type FollowedChain, haltWallet, NetworkHaltedError } from "./driver-context.js";

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
 * one at fault is found. It is halted with the reason, and the others go on. An error that no wallet is at fault for is thrown. So is one of a
 * wallet that does not exist, after the others: nothing else would show it.
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
    isUnavailable: (error) => !isFaultOfRows(context, error),
    onFailure: async ([item], error) => {
      if (item === undefined) return;
      const { tenantId, walletId } = walletOf(item);
      const sentence = `${reason}: ${messageOf(error)}.`;
      if (!(await haltWallet(context, chain, { tenantId, walletId }, code, sentence))) unhalted = error;
    },
  });
  if (unhalted !== undefined) throw unhalted;
  return results;
}

/** For a sentence of its own. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Errors of a node, of the signer, of the lease and of the network: no wallet is at fault for them. */
const errorsOfOthers = [
  NodeUnavailableError,
  SignerUnavailableError,
  LeaseLostError,
  ChainMovedError,
  NetworkHaltedError,
];
/** Whether no part of a step may go on: another process does, or nothing does. */
export function endsStep(error: unknown): boolean {
  return [LeaseLostError, ChainMovedError, NetworkHaltedError].some((kind) => error instanceof kind);
}

/** SQLSTATEs of a value, a constraint, a limit of the server and a trigger. Any other one says nothing about the rows. */
const isStateOfRows = /^(?:2[123]|54|P0)/;

/**
 * Whether an error is about what the database has about wallets. Any is that is not of the database itself, a node, the signer or the lease:
 * a single row can have a value that no code expects, and must not stop the payments of all wallets.
 */
export function isFaultOfRows(
  { isUnavailable }: Pick<DriverContext, "isUnavailable">,
  error: unknown,
): boolean {
  if (errorsOfOthers.some((kind) => error instanceof kind) || isUnavailable(error)) return false;
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code !== "string" || isStateOfRows.test(code);
}
