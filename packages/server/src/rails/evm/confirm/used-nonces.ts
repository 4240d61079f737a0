import type { LockedSender } from "../../../app/chain/locked-sender.js";
import { type DriverContext, type FollowedChain, haltNetwork, positionOf } from "../driver/driver-context.js";

/**
 * How many transactions of the senders are final, by wallet. No nonce comes from it: it only shows whether the chain is ahead of the books. Then
 * payments may have been made that the books have forgotten, so none of them ends, not even if its cancellation was requested.
 */
export async function readUsedNonces(
  context: DriverContext,
  chain: FollowedChain,
  wallets: readonly { walletId: string; address: string }[],
): Promise<ReadonlyMap<string, number>> {
  const senders = [...new Map(wallets.map(({ walletId, address }) => [walletId, address]))];
  const heads = await context.node.heads();
  if ("halt" in heads) return await haltNetwork(context, positionOf(chain), "NETWORK_DISPUTED", heads.halt);
  const nonces = await context.node.noncesAt(
    senders.map(([, address]) => address),
    heads.final,
  );
  return new Map(senders.map(([walletId], index) => [walletId, nonces[index] as number]));
}

export function aheadReason(
  { walletId, nextNonce }: Pick<LockedSender, "walletId" | "nextNonce">,
  used: ReadonlyMap<string, number>,
): string {
  return `${used.get(walletId)} of its transactions are final, and its next nonce would be ${nextNonce}. ${usedElsewhere}`;
}

/** Why the chain is ahead of a wallet, and what to do. */
export const usedElsewhere =
  "The key was used elsewhere, or the database was restored from a backup. If it was restored, run `bursar recover`, if nobody has since: events and tokens of the lost commits need it. If the signer knows payments that the database does not know, all wallets are compared with the signer before any of their payments ends.";
