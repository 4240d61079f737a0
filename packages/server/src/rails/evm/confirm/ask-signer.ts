import { highestNonce } from "../../../app/chain/signer.js";
import type { SignedOfWallet, UnconfirmedWallet } from "../../../app/chain/unconfirmed-wallet.js";
import type { DriverContext } from "../driver/driver-context.js";

/** As many as the signer answers for within the bounds of a response. */
const askedMax = 32;
/** How many nonces of a wallet the signer lists at once. */
export const listedMax = 256;
/** How many nonces without a signature every version of the signer passes over before it ends a list. */
const unsignedMax = 1024;

/**
 * Asks what the signer has signed with nonces that are not final in the database, page by page, until it has no more about a wallet or the
 * caller needs no more of it. It passes over a limited number of nonces without a signature, so below those that the chain has used it is asked again
 * behind them: another program may have used thousands. Returns the wallets that it does not answer for, by their ids, with the reasons, and those of which it has more.
 */
export async function askSigner(
  { network, signer }: DriverContext,
  wallets: readonly (Pick<UnconfirmedWallet, "tenantId" | "walletId" | "finalNonce"> & {
    usedBelow?: number;
  })[],
  onPage: (nonces: readonly SignedOfWallet[]) => Promise<ReadonlySet<string>>,
): Promise<{ refused: ReadonlyMap<string, string>; cut: ReadonlySet<string> }> {
  const refused = new Map<string, string>();
  const cut = new Set<string>();
  for (const { walletId, finalNonce } of wallets)
    if (finalNonce > highestNonce)
      refused.set(
        walletId,
        `The final nonce of the wallet is ${finalNonce}, which no transaction can have. Restore its row in chain_wallets from a backup.`,
      );
  const known = wallets.filter(({ walletId }) => !refused.has(walletId));
  let asked = known.map(({ tenantId, walletId, finalNonce, usedBelow = 0 }) => ({
    ...{ tenantId, walletId, network: network.network, nonce: finalNonce, usedBelow },
  }));
  while (asked.length > 0) {
    const some = asked.slice(0, askedMax);
    const answers = await signer.signedFrom(some);
    const nonces: SignedOfWallet[] = [];
    const unfinished = some.flatMap((wallet, index) => {
      const { tenantId, walletId } = wallet;
      const answer = answers[index] ?? { reason: "The signer has not answered." };
      if ("reason" in answer) {
        refused.set(walletId, answer.reason);
        return [];
      }
      for (const one of answer) nonces.push({ ...one, tenantId, walletId });
      const last = answer.at(-1)?.nonce;
      const isFull = last !== undefined && answer.length >= listedMax;
      const nonce = isFull ? last + 1 : (last ?? wallet.nonce) + unsignedMax + 1;
      return isFull || nonce < wallet.usedBelow ? [{ ...wallet, nonce }] : [];
    });
    const done = nonces.length === 0 ? new Set() : await onPage(nonces);
    for (const { walletId } of unfinished) if (done.has(walletId)) cut.add(walletId);
    asked = [...unfinished.filter(({ walletId }) => !done.has(walletId)), ...asked.slice(askedMax)];
  }
  return { refused, cut };
}
