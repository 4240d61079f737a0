import type { SignedNonce } from "../../../app/chain/signer.js";
import type {
  SignedOfWallet,
  UnconfirmedWallet,
  UnknownNonce,
} from "../../../app/chain/unconfirmed-wallet.js";
import { type DriverContext, type FollowedChain, inUnit, positionOf } from "../driver/driver-context.js";
import { askSigner } from "./ask-signer.js";

/** How many lists of the signer are asked for if all that it has signed for a wallet is needed. */
export const listsMax = 16;

export interface ListedUnknown {
  /** What the signer has signed, and the database does not know, by wallet. */
  unknown: ReadonlyMap<string, readonly UnknownNonce[]>;
  /**
   * What the signer has said that it has signed, when it refused a payment another nonce, and does not list any more: its journal was restored from
   * a backup. The bytes may be in a pool, so the payment gets this nonce and no other payment does.
   */
  unlisted: ReadonlyMap<string, readonly SignedOfWallet[]>;
  /** The wallets that it does not answer for, with the reasons. */
  refused: ReadonlyMap<string, string>;
  /** Those of which it has more. */
  cut: ReadonlySet<string>;
}

/** Page by page: all of a wallet that has a gap, and of any other no more after the first page that has some. */
export async function listUnknown(
  context: DriverContext,
  chain: FollowedChain,
  asked: readonly UnconfirmedWallet[],
): Promise<ListedUnknown> {
  const unknown = new Map<string, UnknownNonce[]>();
  const lists = new Map<string, number>();
  const listed = new Set<string>();
  const nextNonces = new Map(asked.map(({ walletId, nextNonce }) => [walletId, nextNonce]));
  const isBelow = (walletId: string, [first]: readonly SignedNonce[]) =>
    first !== undefined && first.nonce > (nextNonces.get(walletId) ?? 0);
  const answered = await askSigner(context, asked, async (nonces) => {
    const found = await inUnit(context, positionOf(chain), (unit) => unit.listUnknownNonces(nonces));
    for (const one of found) unknown.set(one.walletId, [...(unknown.get(one.walletId) ?? []), one]);
    for (const { transactionId } of nonces) listed.add(transactionId);
    for (const walletId of new Set(nonces.map((one) => one.walletId)))
      lists.set(walletId, (lists.get(walletId) ?? 0) + 1);
    const isDone = ([walletId, some]: [string, SignedOfWallet[]]) =>
      !isBelow(walletId, some) || (lists.get(walletId) ?? 0) >= listsMax;
    return new Set([...unknown].filter(isDone).map(([walletId]) => walletId));
  });
  const bound = await inUnit(context, positionOf(chain), (unit) => unit.listBoundNonces(asked));
  // Of a list that is cut, the rest follows when what was found has its nonces.
  const isUnlisted = ({ walletId, transactionId }: SignedOfWallet) =>
    !listed.has(transactionId) && !answered.cut.has(walletId) && !answered.refused.has(walletId);
  const unlisted = new Map<string, SignedOfWallet[]>();
  for (const one of bound.filter(isUnlisted))
    unlisted.set(one.walletId, [...(unlisted.get(one.walletId) ?? []), one]);
  return { unknown, unlisted, ...answered };
}
